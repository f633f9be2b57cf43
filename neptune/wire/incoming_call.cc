#include "neptune/wire/incoming_call.h"

#include <algorithm>
#include <utility>

namespace neptune {

uint64_t IncomingCall::OnCancel(Task action) {
  {
    LeafLock lock(&mutex_);
    if (!cancelled()) {
      actions_.emplace_back(next_action_, std::move(action));
      return next_action_++;
    }
  }
  if (action) action();
  return 0;
}

void IncomingCall::Forget(uint64_t action) {
  Task forgotten;  // destroyed outside the lock
  LeafLock lock(&mutex_);
  const auto found = std::find_if(actions_.begin(), actions_.end(),
                                  [&](const auto& set) { return set.first == action; });
  if (found == actions_.end()) return;
  forgotten = std::move(found->second);
  actions_.erase(found);
}

bool IncomingCall::untouched() const {
  return stream_ == nullptr && next_action_ == kFirstAction && !cancelled();
}

void IncomingCall::Cancel() {
  std::vector<std::pair<uint64_t, Task>> actions;
  {
    LeafLock lock(&mutex_);
    if (cancelled_.exchange(true, std::memory_order_acq_rel)) return;
    actions.swap(actions_);
  }
  if (stream_ != nullptr) {
    stream_->Close(Cancelled("the caller cancelled or is gone"), /*drop_unread=*/true);
  }
  for (auto& [number, action] : actions) action();
}

Reply& Reply::operator=(Reply&& other) noexcept {
  loop_ = std::exchange(other.loop_, nullptr);
  ReplyTaker* const lender = std::exchange(other.lent_by_, nullptr);
  lent_by_ = nullptr;
  taker_ = loop_ != nullptr && lender != nullptr ? lender->WeakSelf() : std::move(other.taker_);
  call_ = other.call_;
  return *this;
}

void Reply::AnswerDropped() {
  Send({.status = Internal("the request was dropped without an answer")}, "");
}

void Reply::Accept() const {
  if (loop_ == nullptr) return;
  if (lent_by_ != nullptr) return lent_by_->HandleAccepted(call_);
  if (Loop::Current() == loop_) {
    if (const auto taker = taker_.lock()) taker->HandleAccepted(call_);
    return;
  }
  loop_->Post([to = taker_, call = call_] {
    if (const auto taker = to.lock()) taker->HandleAccepted(call);
  });
}

void Reply::SendFrom(const ResponseHeader& header, std::string* payload) {
  Loop* const loop = std::exchange(loop_, nullptr);
  if (loop == nullptr) return;
  if (ReplyTaker* const lender = std::exchange(lent_by_, nullptr)) {
    return lender->HandleReply(call_, header, std::move(*payload));
  }
  if (Loop::Current() == loop) {
    if (const auto taker = taker_.lock()) taker->HandleReply(call_, header, std::move(*payload));
    return;
  }
  loop->Post(
      [to = std::move(taker_), call = call_, header, payload = std::move(*payload)]() mutable {
        if (const auto taker = to.lock()) taker->HandleReply(call, header, std::move(payload));
      });
}

}  // namespace neptune
