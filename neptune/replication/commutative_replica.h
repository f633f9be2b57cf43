// Consistency level 1: every member takes writes, and all of them end up everywhere. A state machine without I/O.
//
//   Propose ─► own log ─► stored: answered, executed ─► told to the others, in this origin's order
//   Step    ─► own log ─► stored: executed, acknowledged by telling what this member has
//
// An origin is a member in one life of its disk, whatever its place in the spec; its writes are numbered without gaps and stand in every log in that order, so
// that one count for each origin says what a member has, and a write that comes twice is known. Members tell each other
// their counts now and then; what another lacks for forward_delay is sent to it by anybody who has it, so that writes of a
// member that is away, or gone for good, arrive too.
// A member whose disk is new takes no writes before it has all that one had that is ready, or knows that none of all members
// is, and that none has more than it. Until then it counts for nothing; so what was dropped from a log, because all had it,
// is in every member that counts. One that was taken out of the spec for a while, and lacks what was dropped meanwhile, gives
// away what only it has, and then takes part as one with a new disk.
// Its numbers begin anew in a life of its own: none is used twice.
//
// Source: [Shen02] 5.2.1 (level 1; writes commute), 5.2.2 (its failures are simpler than those of a primary).
// Departs from source: how missed writes are found is our own; the paper leaves it open.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Limits: unstored_count_max own writes that are not durable yet; window_count_max writes on their way to a member.

#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/replication/commutative_message.h"
#include "neptune/replication/log_outline.h"
#include "neptune/replication/member_actions.h"
#include "neptune/replication/origin_index.h"
#include "neptune/replication/replica_protocol.h"

namespace neptune {

struct CommutativeReplicaOptions {
  // Between telling each other what one has. Larger: fewer messages, losses are seen later. Default: 100 ms.
  Duration exchange_interval = std::chrono::milliseconds(100);
  // Writes that were sent and are not acknowledged for so long are sent again. Default: 200 ms.
  Duration resend_delay = std::chrono::milliseconds(200);
  // What another member lacks for so long is sent by anybody who has it. Larger: fewer writes are sent twice, those of a
  // member that is away arrive later. Default: 500 ms.
  Duration forward_delay = std::chrono::milliseconds(500);
  // A member that is silent for so long is sent nothing but counts. Default: 1 s.
  Duration away_delay = std::chrono::seconds(1);
  size_t unstored_count_max = 4096;
  size_t window_count_max = 1024;
};

// A message to send, with the entries of the log at these places: in their order, those that do not fit in more messages.
struct OutgoingCommutativeMessage {
  MemberIndex to = 0;
  CommutativeMessage message;
  std::vector<Lsn> entries;
};

// What is sent is stored already, so all of it is sent at once. Of another's data that are to be taken: a crash may leave
// them beside an empty log, and data that end after the log are to be made empty again before the next start.
using CommutativeActions = MemberActions<OutgoingCommutativeMessage>;

class CommutativeReplica {
 public:
  // `found` is the log's outline and `index` what its entries are; `incarnation` differs from every earlier one of this
  // member and is not 0.
  CommutativeReplica(ReplicaGroup group, const CommutativeReplicaOptions& options,
                     const LogOutline& found, OriginIndex index, uint64_t incarnation,
                     TimePoint now);

  // Takes a message; what makes no sense in it is ignored.
  void Step(MemberIndex from, CommutativeMessage message, TimePoint now);
  // To be called at NextEvent.
  void Tick(TimePoint now);
  TimePoint NextEvent() const;

  // Takes a write; its caller is answered when it is executed. Errors: kUnavailable this member looks for what it missed;
  // kResourceExhausted.
  StatusOr<Lsn> Propose(LogEntry write, TimePoint now);

  CommutativeActions DrainActions();
  void Stored(uint64_t change_number, TimePoint now);
  // Data and log were taken from another member: its log has dropped what is before `base` and the entry there, which was
  // `counts`, and `entries` are all that follow. The data end with one of them, or with `base`. Entries that not everybody
  // has would be lost to the others if their places in the log were not taken with the data.
  void Restored(Lsn base, const OriginCounts& counts, std::vector<LogEntry> entries, TimePoint now);

  // Entries may be executed up to here.
  Lsn executable() const { return stored_lsn_; }
  Lsn last_lsn() const { return index_.last_lsn(); }
  // Takes writes, and has all that was ever dropped.
  bool is_ready() const { return promise_.is_founded; }
  // The writes that a snapshot of this member's data has that ends with `lsn`.
  OriginCounts CountsAt(Lsn lsn) const { return index_.CountsAt(lsn); }

  // Puts the counts into the log, so that what stands before them can be dropped.
  void NoteCounts(TimePoint now);
  // The entries before this one are with every member.
  Lsn needed_from() const;
  // The log no longer has what is before `first`. REQUIRES: first <= needed_from().
  void Dropped(Lsn first) { index_.DropBefore(first); }

 private:
  // Since when a peer has had no more than this of an origin; once forwarding, until it has `goal`.
  struct Lag {
    uint64_t count = 0;
    TimePoint since{};
    std::optional<uint64_t> goal;
  };
  struct Peer {
    uint64_t incarnation = 0;  // 0: not heard yet
    uint64_t number = 0;       // of its newest message
    TimePoint heard_at{};
    bool knows_me = false;  // its messages are meant for this life
    bool is_ready = false;
    bool wants_all = false;
    OriginCounts has;
    OriginCounts sent;             // what it will have when all that is on its way arrives
    TimePoint resend_at = kNever;  // nothing is on its way
    std::map<Origin, Lag> lags;
    std::optional<Lsn> owed;  // it is told the counts when the log is stored up to here
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

  // is_founded: this member is ready; epoch: the life of its disk.
  HardState promise_;
  OriginIndex index_;
  Lsn stored_lsn_ = 0;
  OriginCounts stored_counts_;
  std::vector<Peer> peers_;
  TimePoint exchange_at_{};
  uint64_t message_number_ = 0;

  // While it is not ready: from whom it takes what it lacks, and how much that had first.
  std::optional<MemberIndex> source_;
  OriginCounts goal_;
  bool is_restoring_ = false;

  uint64_t change_number_ = 0;
  std::deque<PendingChange> pending_;
  CommutativeActions actions_;
};

}  // namespace neptune
