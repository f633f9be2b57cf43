// Consistency level `write_anywhere`: every member accepts writes, and all writes eventually reach
// every member. A state machine without I/O.
//
//   Propose ─► own log ─► stored: answered, executed ─► sent to the others, in this origin's order
//   Step    ─► own log ─► stored: executed, acknowledged by sending this member's counts
//
// An origin is a member during one life of its disk, whatever its place in the spec. Its writes are
// numbered without gaps and every log has them in that order, so one count per origin describes
// what a member has, and duplicates are detected. Members exchange their counts periodically; any
// member that has a write sends it to a member that has lacked it for forward_delay, so writes of
// an absent or lost member arrive too.
//
// A member with a new disk accepts no writes until it has everything that one ready member had, or
// until it knows that no member is ready and none has more than it. Until then it does not count,
// so every member that counts has what was dropped from a log because all had it. A member that was
// removed from the spec for a while and lacks entries that were dropped meanwhile first sends the
// writes that only it has, and then rejoins like one with a new disk. It then starts a new life
// with new numbers, so no number is used twice.
//
// Source: [Shen02] 5.2.1 (level 1, here `write_anywhere`; writes commute), 5.2.2 (its failures are
//   simpler than those of a primary).
// Departs from source: the exchange of counts is our own; the paper leaves open how missed writes
//   are found.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Limits: unstored_count_max own writes that are not durable yet; window_count_max writes in flight
//   to a member.

#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/replication/log/log_outline.h"
#include "neptune/replication/log/origin_index.h"
#include "neptune/replication/protocol/commutative_message.h"
#include "neptune/replication/protocol/member_actions.h"
#include "neptune/replication/protocol/replica_group.h"

namespace neptune {

struct CommutativeReplicaOptions {
  // Interval between exchanges of counts. Larger: fewer messages, losses are detected later.
  // Default: 100 ms.
  Duration exchange_interval = std::chrono::milliseconds(100);
  // Time after which unacknowledged writes are sent again. Default: 200 ms.
  Duration resend_delay = std::chrono::milliseconds(200);
  // Time after which any member that has a write sends it to one that lacks it. Larger: fewer
  // duplicates, writes of absent members arrive later. Default: 500 ms.
  Duration forward_delay = std::chrono::milliseconds(500);
  // Silence after which a member is sent only counts. Default: 1 s.
  Duration away_delay = std::chrono::seconds(1);
  size_t unstored_count_max = 4096;
  size_t window_count_max = 1024;
};

// A message to send with the log entries at these LSNs, in order; entries that do not fit go in
// further messages.
struct OutgoingCommutativeMessage {
  MemberIndex to = 0;
  CommutativeMessage message;
  std::vector<Lsn> entries;
};

// Only stored entries are sent, so all messages are in at_once. If another member's data are to be
// restored: a crash may leave them beside an empty log; before the next start the caller must empty
// data that end after the log.
using CommutativeActions = MemberActions<OutgoingCommutativeMessage>;

class CommutativeReplica {
 public:
  // `found` is the log's outline and `index` the index of its entries; `incarnation` differs from
  // every earlier one of this member and is not 0.
  CommutativeReplica(ReplicaGroup group, const CommutativeReplicaOptions& options,
                     const LogOutline& found, OriginIndex index, uint64_t incarnation,
                     TimePoint now);

  // Handles a message; ignores its invalid parts.
  void Step(MemberIndex from, CommutativeMessage message, TimePoint now);
  // The caller must call Tick at NextEvent.
  void Tick(TimePoint now);
  TimePoint NextEvent() const;

  // Appends a write; its caller is answered once it is executed. Errors: kUnavailable this member
  // is still fetching what it missed; kResourceExhausted.
  StatusOr<Lsn> Propose(LogEntry write, TimePoint now);

  CommutativeActions DrainActions();
  void Stored(uint64_t change_number, TimePoint now);
  // Reports that data and log were replaced by those of another member. Its log had dropped the
  // entries up to `base`, with these `counts`; `entries` are all that follow. The data end with one
  // of them, or with `base`. The entries are part of the restore because those that some members
  // lack might exist nowhere else.
  void Restored(Lsn base, const OriginCounts& counts, std::vector<LogEntry> entries, TimePoint now);
  // The same in parts: BeginLog, AddToLog for the entries in their order, NoteCounts, and
  // EndRestore once all that is stored and the data are ended. The member does not take part
  // before.
  void BeginLog(Lsn base, const OriginCounts& counts);
  void AddToLog(std::vector<LogEntry> entries);
  void EndRestore(TimePoint now);

  // Entries up to here may be executed.
  Lsn executable() const { return stored_lsn_; }
  Lsn last_lsn() const { return index_.last_lsn(); }
  // True if this member accepts writes and has everything that was ever dropped.
  bool is_ready() const { return promise_.is_founded; }
  // Counts of the writes up to and including `lsn`, for a snapshot that ends there.
  OriginCounts CountsAt(Lsn lsn) const { return index_.CountsAt(lsn); }

  // Appends an entry with the counts, so that the entries before it can be dropped.
  void NoteCounts(TimePoint now);
  // Every member has the entries before this one.
  Lsn needed_from() const;
  // Reports that the log no longer has the entries before `first`. REQUIRES: first <=
  // needed_from().
  void Dropped(Lsn first) { index_.DropBefore(first); }

 private:
  // A peer has had only `count` writes of an origin since `since`. `goal` is set while writes are
  // forwarded to it, until it has that many.
  struct Lag {
    uint64_t count = 0;
    TimePoint since{};
    std::optional<uint64_t> goal;
  };
  struct Peer {
    uint64_t incarnation = 0;  // 0: not heard yet
    uint64_t number = 0;       // number of its newest message
    TimePoint received_at{};
    bool knows_me = false;  // its messages carry this member's incarnation
    bool is_ready = false;
    bool wants_all = false;
    OriginCounts has;
    OriginCounts sent;             // counts it will have when everything in flight arrives
    TimePoint resend_at = kNever;  // kNever: nothing is in flight
    std::map<Origin, Lag> lags;
    std::optional<Lsn> owed;  // send it the counts once the log is stored up to here
  };
  struct PendingChange {
    uint64_t number = 0;
    Lsn last_lsn = 0;
    OriginCounts counts;
  };

  void HandleCounts(Peer& peer, const CommutativeMessage& message, TimePoint now);
  void AdoptEntries(std::vector<LogEntry> entries);
  void Append(LogEntry entry);
  void Promise(bool is_founded, uint64_t life);

  void LookForSource(MemberIndex from, TimePoint now);
  bool IsFirst() const;
  void RestoreFrom(MemberIndex from);
  void StartOver(Lsn base, const OriginCounts& counts);

  void Maintain(TimePoint now);
  void Exchange(TimePoint now);
  void WatchLags(Peer& peer, TimePoint now);
  void SendEntries(MemberIndex to, TimePoint now);
  std::vector<Lsn> NextEntriesFor(MemberIndex to, size_t count_max);
  bool IsToSend(MemberIndex to, const Origin& origin) const;
  size_t OnTheWayTo(const Peer& peer) const;
  bool IsHere(const Peer& peer, TimePoint now) const;
  void Send(MemberIndex to, std::vector<Lsn> entries);

  const ReplicaGroup group_;
  const CommutativeReplicaOptions options_;
  const uint64_t incarnation_;

  // Here is_founded means that this member is ready, and epoch is the life of its disk.
  HardState promise_;
  OriginIndex index_;
  Lsn stored_lsn_ = 0;
  OriginCounts stored_counts_;
  std::vector<Peer> peers_;
  TimePoint exchange_at_{};
  uint64_t message_number_ = 0;

  // While not ready: the member to catch up from, and the counts that it had at first.
  std::optional<MemberIndex> source_;
  OriginCounts goal_;
  bool is_restoring_ = false;

  uint64_t change_number_ = 0;
  std::deque<PendingChange> pending_;
  CommutativeActions actions_;
};

}  // namespace neptune
