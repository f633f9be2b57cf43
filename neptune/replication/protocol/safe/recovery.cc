#include "neptune/replication/protocol/safe/recovery.h"

#include <algorithm>

namespace neptune {
namespace {

// Greetings without an answer after which their interval no longer doubles: .4 s by default.
constexpr int kUnansweredMax = 2;

}  // namespace

bool Recovery::Greet(bool is_settled, TimePoint now) {
  if (now < hello_at_) return false;
  if (is_settled) {
    hello_at_ = kNever;
    return false;
  }
  hello_at_ = now + hello_interval_ * (1 << std::min(unanswered_count_, kUnansweredMax));
  ++unanswered_count_;
  return true;
}

void Recovery::OnMessageFromMember(TimePoint now) {
  unanswered_count_ = 0;
  if (hello_at_ != kNever) hello_at_ = std::min(hello_at_, now + hello_interval_);
}

void Recovery::GreetAgain(TimePoint now) {
  has_heard_primary_ = false;
  hello_at_ = std::min(hello_at_, now);
}

Recovery::Finding Recovery::OnAnswer(MemberIndex from, const ReplicaMessage& answer,
                                     bool is_blank) {
  if (answer.counts) {
    answered_ = answered_.With(from);
    largest_epoch_ = std::max(largest_epoch_, answer.epoch);
  }
  if (!is_blank) return Finding::kNothing;
  if (!answer.yes) return Finding::kOthersAreOlder;
  blank_ = blank_.With(from);
  const bool are_all = blank_.With(group_.self) == MemberSet::FirstOf(group_.size());
  return are_all ? Finding::kAllAreBlank : Finding::kNothing;
}

bool Recovery::MayFollow(const ReplicaMessage& message) const {
  const bool knows_promises = answered_.size() >= group_.majority() || message.by_hand;
  return knows_promises && message.epoch >= largest_epoch_;
}

bool Recovery::HasCaughtUp(const ReplicaMessage& append, Lsn last_lsn) {
  if (!recover_to_ || recovering_from_ != append.epoch) {
    recovering_from_ = append.epoch;
    recover_to_ = append.last_lsn;
  }
  return last_lsn >= *recover_to_;
}

}  // namespace neptune
