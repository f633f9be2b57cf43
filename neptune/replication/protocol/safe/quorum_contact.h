// When the members last answered a primary, how quickly, and the time at which a majority confirmed
// its lead.
//
// Invariant: a majority that answered an append sent at a time t followed this primary at t or
// later, so no other primary was elected before t. The lease begins at the t of the slowest member
// of the quickest majority.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Units: times are TimePoint of the primary's clock; stamps are those of the member's.

#pragma once

#include <cstdint>
#include <vector>

#include "neptune/base/time.h"
#include "neptune/replication/protocol/replica_group.h"
#include "neptune/replication/protocol/replica_message.h"

namespace neptune {

class QuorumContact {
 public:
  // `group` must outlive this object.
  explicit QuorumContact(const ReplicaGroup& group) : group_(group), peers_(group.members.size()) {}

  // A new term begins: none has answered yet, and none counts as silent yet.
  void Begin(TimePoint now);
  // The member has restarted.
  void Forget(MemberIndex member, TimePoint now) { peers_[member] = Peer{.answered_at = now}; }
  // Takes an answer to an append that was sent at `sent_at`.
  void Record(MemberIndex from, const ReplicaMessage& answer, TimePoint sent_at, TimePoint now);

  // The member's promises and acknowledgements count.
  bool counts(MemberIndex member) const { return peers_[member].counts; }
  // Time since its last answer.
  Duration SilenceOf(MemberIndex member, TimePoint now) const {
    return now - peers_[member].answered_at;
  }
  // Smoothed time between an append and its answer.
  Duration answer_time(MemberIndex member) const { return peers_[member].answer_time; }
  // Send time of the newest append that it answered; TimePoint::min(): none.
  TimePoint answered_for(MemberIndex member) const { return peers_[member].answered_for; }
  // Its last answer says that the primary may rest.
  bool rests(MemberIndex member) const { return peers_[member].rests; }
  // Members that have answered what was sent at `sent_at` or later count as heard now: they were
  // not asked since.
  void Refresh(TimePoint sent_at, TimePoint now);
  // The newest stamp of its own clock that it sent.
  int64_t member_stamp(MemberIndex member) const { return peers_[member].member_stamp; }

  // The longest answer time within the quickest majority, which is the minimum that a write takes;
  // Duration::max(): no majority counts.
  Duration MajorityAnswerTime() const;
  // Send time of the newest append that a majority has answered; kNever: this member is a majority;
  // TimePoint::min(): none yet.
  TimePoint MajorityAnsweredFor() const;

 private:
  struct Peer {
    bool counts = false;
    bool rests = false;
    TimePoint answered_at{};
    // Send times of the newest append that it answered, and that it had stored when it answered.
    TimePoint answered_for = TimePoint::min();
    TimePoint stored_for = TimePoint::min();
    Duration answer_time{0};
    int64_t member_stamp = 0;
  };

  const ReplicaGroup& group_;
  std::vector<Peer> peers_;
};

}  // namespace neptune
