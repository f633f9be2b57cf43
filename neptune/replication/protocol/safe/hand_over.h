// The hand-over of a primary's place to a preferred member, or from a primary that is unable to
// lead to a member that is able.
//
//   search ──a successor──► writes wait ──it has everything──► offered ──elected──► (term ends)
//      ▲                        │                                 │
//      └──────── given up ◄─────┴──── hand_over_max has passed ───┘
//
// Invariant: once the place was offered, the primary no longer relies on its lease; if the offer is
// given up, only a larger epoch makes it the only primary again.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include <optional>

#include "neptune/base/time.h"
#include "neptune/replication/protocol/replica_group.h"
#include "neptune/replication/protocol/safe/safe_options.h"

namespace neptune {

class HandOver {
 public:
  // `group` and `options` must outlive this object.
  HandOver(const ReplicaGroup& group, const SafeReplicaOptions& options)
      : group_(group), options_(options) {}

  // A term begins; the first search is after this time.
  void Begin(TimePoint now) { Begin(now, options_.hand_over_delay); }
  void Begin(TimePoint now, Duration delay);
  // The term is over.
  void End();

  // True if it is time to look for a successor.
  bool MaySearch(TimePoint now) const {
    return !successor_ && (now >= next_ || group_.IsWitness(group_.self));
  }
  // Members that could lead: heard, in the write set, with all committed entries and their data.
  struct Candidates {
    MemberSet able;
    // Those of them that have been in the write set for hand_over_delay.
    MemberSet settled;
    // This member should not lead, e.g. because its disk is full: it hands over to any able member,
    // at once.
    bool must_go = false;
  };
  // Chooses the most preferred one; writes then wait.
  void Search(const Candidates& candidates, TimePoint now);

  const std::optional<MemberIndex>& successor() const { return successor_; }
  bool was_offered() const { return was_offered_; }
  void NoteOffered() { was_offered_ = true; }
  // The time until which writes wait; kNever: they do not wait.
  TimePoint ends_at() const { return successor_ ? ends_at_ : kNever; }
  // Gives up; the next search is after a delay. True if the place had been offered.
  bool GiveUp(TimePoint now);

 private:
  const ReplicaGroup& group_;
  const SafeReplicaOptions& options_;
  std::optional<MemberIndex> successor_;
  TimePoint ends_at_ = kNever;
  bool was_offered_ = false;
  TimePoint next_{};
};

}  // namespace neptune
