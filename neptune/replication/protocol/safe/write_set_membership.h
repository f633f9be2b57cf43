// Which members a write waits for: a member that delays writes leaves the write set, and returns
// once it keeps up.
//
//   in the set ──delays writes for more than hold_up_max, or is silent──► out, for return_delay
//       ▲                                                                  │
//       └──── keeps up, answers as quickly as the others, has waited ──────┘
//
// A member delays a write if it is the only one that has not stored it for longer than a multiple
// of the time that the quickest majority takes. A tenth of the time that passes is forgiven. The
// return delay doubles with each removal, until the member has stayed for a minute.
//
// Invariant: a proposed write set is at least a majority.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include <array>
#include <optional>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/replication/log/log_entry.h"
#include "neptune/replication/protocol/replica_group.h"
#include "neptune/replication/protocol/safe/quorum_contact.h"
#include "neptune/replication/protocol/safe/safe_options.h"

namespace neptune {

// The last entry of the primary's log that each member has stored; 0 for one that does not count.
struct StoredPositions {
  std::array<Lsn, kMemberCountMax> by_member{};
  Lsn last = 0;  // the end of the primary's log

  // The last entry that all of `members` have stored.
  Lsn LowestOf(MemberSet members) const;
};

class WriteSetMembership {
 public:
  // `group` and `options` must outlive this object.
  WriteSetMembership(const ReplicaGroup& group, const SafeReplicaOptions& options)
      : group_(group), options_(options), peers_(group.members.size()) {}

  // A term begins; return delays of earlier terms remain.
  void Begin(TimePoint now);
  // The member has restarted.
  void Forget(MemberIndex member, TimePoint now) { peers_[member] = Peer{.in_set_since = now}; }
  // The write set changes from `before` to `members`.
  void Change(MemberSet before, MemberSet members, TimePoint now);

  // Charges the members of the set for the time since the last call.
  void CountHoldUps(MemberSet members, const StoredPositions& stored, const QuorumContact& contact,
                    TimePoint now);
  bool IsOverBudget(MemberIndex member) const {
    return peers_[member].held_up > options_.hold_up_max;
  }
  void Forgive(MemberIndex member) { peers_[member].held_up = Duration{0}; }
  Duration TimeInSet(MemberIndex member, TimePoint now) const {
    return now - peers_[member].in_set_since;
  }
  // True if the member's acknowledgements count and it answered within the election timeout.
  bool IsHeard(MemberIndex member, const QuorumContact& contact, TimePoint now) const {
    return contact.counts(member) && contact.SilenceOf(member, now) < options_.election_timeout;
  }

  // The set without the member, with witnesses if they are needed for a majority; nullopt: the
  // member is needed for a majority. Starts the member's return delay.
  std::optional<MemberSet> Expel(MemberIndex member, MemberSet members,
                                 const QuorumContact& contact, TimePoint now);
  // The set with the members that may return; `keeping_up`: those that have all that they were
  // sent.
  MemberSet WithReturning(MemberSet members, MemberSet keeping_up, const QuorumContact& contact,
                          TimePoint now) const;
  // The set without witnesses, unless they are needed for a majority.
  MemberSet WithoutNeedlessWitness(MemberSet members) const;

 private:
  struct Peer {
    Lsn awaited = 0;  // since awaited_since only this member lacks this entry; 0: none
    TimePoint awaited_since{};
    Duration held_up{0};
    TimePoint in_set_since{};
    TimePoint may_return{};
    Duration return_delay{0};
  };

  Duration Patience(const QuorumContact& contact) const;
  void Await(Peer& peer, Lsn stored, Lsn others, TimePoint now);

  const ReplicaGroup& group_;
  const SafeReplicaOptions& options_;
  std::vector<Peer> peers_;
  TimePoint counted_at_{};
};

}  // namespace neptune
