// A protocol by which the replicas of a partition agree on one order of writes, as a state machine
// without I/O.
//
//   Step, Tick, Propose, Unreachable ─► decisions ─► DrainActions: send `at_once`, store the
//   Stored, Restored                ─►               change, send `after_stored`, restore;
//                                                    execute up to `committed`
//
// Variants: SafeReplica (safe_replica.h), the default; FailStopReplica (fail_stop_replica.h), the
// paper's protocol.
//
// Source: [Shen02] 5.2.
// No I/O, no clock, no threads: replica_agent.h drives it.
// Threads: thread-compatible.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/replication/log/log_entry.h"
#include "neptune/replication/log/log_outline.h"
#include "neptune/replication/protocol/member_actions.h"
#include "neptune/replication/protocol/replica_message.h"

namespace neptune {

struct ReplicaMember {
  NodeId node;
  // Keeps the log and votes but has no data: allows a majority with an even number of replicas.
  bool is_witness = false;
};

// The members of a partition, the preferred primary first, and the index of this one.
struct ReplicaGroup {
  std::vector<ReplicaMember> members;
  MemberIndex self = 0;

  int size() const { return static_cast<int>(members.size()); }
  int majority() const { return size() / 2 + 1; }
  bool IsWitness(MemberIndex member) const { return members[member].is_witness; }
};

enum class ReplicaRole : uint8_t {
  kBlank,       // its store is new; it asks whether the partition is new
  kRecovering,  // it lost its promises and takes no part until it has caught up
  kSecondary,
  kCandidate,
  kPrimary,
  kPeer,  // level 1: accepts writes, like every other member
};
std::string_view NameOf(ReplicaRole role);

// A message to send with the entries (message.prev_lsn, entries_to], or the longest prefix that
// fits.
struct OutgoingReplicaMessage {
  MemberIndex to = 0;
  ReplicaMessage message;
  Lsn entries_to = 0;
};

using ReplicaActions = MemberActions<OutgoingReplicaMessage>;

// How current a member's data are: data with all writes up to `committed` were the partition's
// newest at `as_of` or later, by this member's clock.
struct ReplicaFreshness {
  Lsn committed = 0;
  TimePoint as_of{};
};

class ReplicaProtocol {
 public:
  virtual ~ReplicaProtocol() = default;

  // Handles a message; ignores an invalid one.
  virtual void Step(MemberIndex from, ReplicaMessage message, TimePoint now) = 0;
  // The caller must call Tick at NextEvent.
  virtual void Tick(TimePoint now) = 0;
  virtual TimePoint NextEvent() const = 0;

  // Orders a write. Errors: kFailedPrecondition this is not the primary; kUnavailable the primary
  // is handing over; kResourceExhausted too many writes are uncommitted.
  virtual StatusOr<Lsn> Propose(LogEntry write, TimePoint now) = 0;
  // Reports that the last message to the member probably did not arrive.
  virtual void Unreachable(MemberIndex member, TimePoint now) = 0;

  // Restarts the partition from this member's log, whatever other members may have had: an operator
  // states that the members that could elect a primary have lost their disks. Errors:
  // kFailedPrecondition with the reason; nothing has changed.
  virtual Status StartByHand(TimePoint now) = 0;

  // Returns the actions that the caller must perform now.
  virtual ReplicaActions DrainActions() = 0;
  virtual void Stored(uint64_t change_number, TimePoint now) = 0;
  // Reports that the data were replaced by another member's with all writes up to `base`. They
  // count only once the change that follows is stored: data must never be ahead of their log.
  virtual void Restored(const EpochStart& base, MemberSet write_set, TimePoint now) = 0;
  // Reports that the log no longer has the entries before `first`.
  virtual void Dropped(Lsn first) = 0;

  virtual ReplicaRole role() const = 0;
  virtual Epoch epoch() const = 0;
  // Primary of this epoch, if known.
  virtual std::optional<MemberIndex> primary() const = 0;
  // Writes up to here may be executed: they are committed and stored on this member, so its data
  // are never ahead of its log.
  virtual Lsn committed() const = 0;
  virtual Lsn last_lsn() const = 0;
  virtual MemberSet write_set() const = 0;
  // Until then this member is the primary and no other can have been elected; TimePoint::min(): no
  // lease.
  virtual TimePoint leased_until() const = 0;
  bool IsLeased(TimePoint now) const { return now < leased_until(); }
  // nullopt: not known yet. For a primary use IsLeased.
  virtual std::optional<ReplicaFreshness> freshness() const = 0;
  // On a primary: every member whose acknowledgements count has the entries before this one. Else
  // 0.
  virtual Lsn needed_from() const = 0;
  // Epoch of an entry in the log or of the last dropped one; nullopt: neither.
  virtual std::optional<Epoch> EpochAt(Lsn lsn) const = 0;
  // REQUIRES: EpochAt(lsn).
  virtual MemberSet WriteSetAt(Lsn lsn) const = 0;
};

}  // namespace neptune
