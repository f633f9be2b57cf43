// How the replicas of a partition agree on one order of writes: a state machine without I/O.
//
//   Step, Tick, Propose, Unreachable ─► decisions ─► DrainActions: 1. store the change   2. then send what waits for it
//   Stored, Restored                ─►                           at once: send the rest; execute up to `committed`
//
// Variants: SafeReplica (safe_replica.h), the default; FailStopReplica (fail_stop_replica.h), the papers' own.
//
// Source: [Shen02] 5.2.
// No I/O, no clock, no threads: replica_agent.h feeds it.
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
#include "neptune/replication/log_entry.h"
#include "neptune/replication/log_outline.h"
#include "neptune/replication/member_actions.h"
#include "neptune/replication/replica_message.h"

namespace neptune {

struct ReplicaMember {
  NodeId node;
  // Keeps the log and votes, but has no data: makes a majority possible where the number of replicas is even.
  bool is_witness = false;
};

// Who holds a partition, the preferred primary first, and which of them this is.
struct ReplicaGroup {
  std::vector<ReplicaMember> members;
  MemberIndex self = 0;

  int size() const { return static_cast<int>(members.size()); }
  int majority() const { return size() / 2 + 1; }
  bool IsWitness(MemberIndex member) const { return members[member].is_witness; }
};

enum class ReplicaRole : uint8_t {
  kBlank,       // its store is new; it asks whether the partition is
  kRecovering,  // it had forgotten what it promised, and takes no part until it has caught up
  kSecondary,
  kCandidate,
  kPrimary,
  kPeer,  // takes writes as every other member does: level 1
};
std::string_view NameOf(ReplicaRole role);

// A message to send. Entries (message.prev_lsn, entries_to] are to be put in, or as many of the first of them as fit.
struct OutgoingReplicaMessage {
  MemberIndex to = 0;
  ReplicaMessage message;
  Lsn entries_to = 0;
};

using ReplicaActions = MemberActions<OutgoingReplicaMessage>;

// How current a member's data are: those with all writes up to `committed` were the partition's newest at `as_of`, or
// later, by this member's clock.
struct ReplicaFreshness {
  Lsn committed = 0;
  TimePoint as_of{};
};

class ReplicaProtocol {
 public:
  virtual ~ReplicaProtocol() = default;

  // Takes a message; one that makes no sense is ignored.
  virtual void Step(MemberIndex from, ReplicaMessage message, TimePoint now) = 0;
  // To be called at NextEvent.
  virtual void Tick(TimePoint now) = 0;
  virtual TimePoint NextEvent() const = 0;

  // Orders a write. Errors: kFailedPrecondition this is not the primary; kUnavailable it hands over just now.
  virtual StatusOr<Lsn> Propose(LogEntry write, TimePoint now) = 0;
  // What was sent to the member last did not arrive, as far as one can see.
  virtual void Unreachable(MemberIndex member, TimePoint now) = 0;

  // The partition goes on with what this member has, whatever others may have had: an operator says that those who could
  // elect a primary have lost their disks. Errors: kFailedPrecondition with the reason; nothing has changed.
  virtual Status StartByHand(TimePoint now) = 0;

  // What is to be done now; the caller does it.
  virtual ReplicaActions DrainActions() = 0;
  virtual void Stored(uint64_t change_number, TimePoint now) = 0;
  // The data, taken from another member, hold all writes up to `base`. They count only once the change that follows is
  // stored: data must never be ahead of their log.
  virtual void Restored(const EpochStart& base, MemberSet write_set, TimePoint now) = 0;
  // The log no longer has what is before `first`.
  virtual void Dropped(Lsn first) = 0;

  virtual ReplicaRole role() const = 0;
  virtual Epoch epoch() const = 0;
  // Of this epoch, if known.
  virtual std::optional<MemberIndex> primary() const = 0;
  // Writes may be executed up to here: they are committed, and stored on this member, so that its data are never ahead of
  // its log.
  virtual Lsn committed() const = 0;
  virtual Lsn last_lsn() const = 0;
  virtual MemberSet write_set() const = 0;
  // Until then this is the primary, and no other one can have been elected; TimePoint::min(): it is not.
  virtual TimePoint leased_until() const = 0;
  bool IsLeased(TimePoint now) const { return now < leased_until(); }
  // Nothing yet: nullopt. A primary's is that of IsLeased.
  virtual std::optional<ReplicaFreshness> freshness() const = 0;
  // Every member whose acknowledgements count is known to have the entries before this one. A primary's; else 0.
  virtual Lsn needed_from() const = 0;
  // Of an entry that is in the log, or of the last one that is not; nullopt: of neither.
  virtual std::optional<Epoch> EpochAt(Lsn lsn) const = 0;
  // REQUIRES: EpochAt(lsn).
  virtual MemberSet WriteSetAt(Lsn lsn) const = 0;
};

}  // namespace neptune
