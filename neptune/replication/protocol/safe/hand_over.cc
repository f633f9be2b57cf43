#include "neptune/replication/protocol/safe/hand_over.h"

#include <utility>

namespace neptune {

void HandOver::Begin(TimePoint now, Duration delay) {
  End();
  next_ = now + delay;
}

void HandOver::End() {
  successor_.reset();
  was_offered_ = false;
}

void HandOver::Search(const Candidates& candidates, TimePoint now) {
  const MemberIndex end =
      candidates.must_go ? static_cast<MemberIndex>(group_.size()) : group_.self;
  for (MemberIndex member = 0; member < end; ++member) {
    const MemberSet& suitable = candidates.must_go ? candidates.able : candidates.settled;
    if (!suitable.contains(member)) continue;
    successor_ = member;
    ends_at_ = now + options_.hand_over_max;
    return;
  }
}

bool HandOver::GiveUp(TimePoint now) {
  successor_.reset();
  next_ = now + options_.hand_over_delay;
  return std::exchange(was_offered_, false);
}

}  // namespace neptune
