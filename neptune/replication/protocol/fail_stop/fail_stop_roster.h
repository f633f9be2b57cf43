// What a member knows of the others by their announcements: which are alive, which take part, and
// which is preferred.
//
// Invariant: an epoch returned by NextEpoch is larger than any that was announced, and no other
// member returns it.
//
// Source: [Shen02] 5.2.2 (announcements, the Bully Algorithm).
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include <vector>

#include "neptune/base/time.h"
#include "neptune/replication/log/log_entry.h"
#include "neptune/replication/protocol/replica_group.h"

namespace neptune {

class FailStopRoster {
 public:
  // A member that is silent for `failure_timeout` counts as stopped. `group` must outlive this
  // object.
  FailStopRoster(const ReplicaGroup& group, Duration failure_timeout)
      : group_(group), failure_timeout_(failure_timeout), peers_(group.members.size()) {}

  // Notes a message of the member.
  void Hear(MemberIndex from, Epoch epoch, TimePoint now);
  // The member has restarted.
  void Forget(MemberIndex member) { peers_[member] = Peer(); }
  // The members that may be alive according to another source; the others count as stopped at once.
  // Default: all.
  void SetAlive(MemberSet members) { may_live_ = members; }
  bool lives(MemberIndex member, TimePoint now) const;

  // The member has not been away since it was last in the write set, by its own word.
  void SetOperational(MemberIndex member, bool is_operational) {
    peers_[member].is_operational = is_operational;
  }
  bool is_operational(MemberIndex member) const { return peers_[member].is_operational; }
  void NoteBlank(MemberIndex member) { peers_[member].was_blank = true; }
  // True if this member is to start a new partition: it is the most preferred, and all others have
  // been blank.
  bool AllAreBlank() const;
  // True if no live member that takes part is preferred to this one.
  bool IsPreferred(TimePoint now) const;
  // `promised`: the largest epoch that this member has promised.
  Epoch NextEpoch(Epoch promised) const;

 private:
  struct Peer {
    bool is_known = false;
    TimePoint announced_at{};
    Epoch epoch = 0;
    bool is_operational = false;
    bool was_blank = false;
  };

  const ReplicaGroup& group_;
  const Duration failure_timeout_;
  std::vector<Peer> peers_;
  MemberSet may_live_ = MemberSet(0xffff);
};

}  // namespace neptune
