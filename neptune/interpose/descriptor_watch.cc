#include "neptune/interpose/descriptor_watch.h"

#include <poll.h>

#include <utility>

namespace neptune::interpose {
namespace {

// Wakes all waiters, because the descriptor is closed.
constexpr uint32_t kEnd = POLLERR | POLLHUP | POLLRDHUP;

}  // namespace

void DescriptorWatch::Waiter::Join(std::shared_ptr<DescriptorWatch> watch) {
  previous_ = watch->last_;
  (previous_ == nullptr ? watch->first_ : previous_->next_) = this;
  watch->last_ = this;
  watch_ = std::move(watch);
  Rejoin();
}

void DescriptorWatch::Waiter::Part() {
  if (watch_ == nullptr) return;
  (previous_ == nullptr ? watch_->first_ : previous_->next_) = next_;
  (next_ == nullptr ? watch_->last_ : next_->previous_) = previous_;
  const auto watch = std::exchange(watch_, nullptr);
  if (notified_ && kind_ == Kind::kTakes) watch->PassOn(events_);
}

void DescriptorWatch::OnReady(uint32_t events) {
  uint32_t taken = 0;  // events for which a taker was woken
  for (Waiter* waiter = first_; waiter != nullptr; waiter = waiter->next_) {
    if ((events & (waiter->events_ | kEnd)) == 0) continue;
    const bool is_for_one = waiter->kind_ == Waiter::Kind::kTakes && (events & kEnd) == 0;
    if (is_for_one && (waiter->events_ & ~taken) == 0) continue;
    if (is_for_one) taken |= waiter->events_;
    Tell(*waiter);
  }
}

void DescriptorWatch::PassOn(uint32_t events) {
  for (Waiter* waiter = first_; waiter != nullptr; waiter = waiter->next_) {
    if (waiter->kind_ != Waiter::Kind::kTakes || (waiter->events_ & events) == 0) continue;
    Tell(*waiter);
    return;
  }
}

void DescriptorWatch::Tell(Waiter& waiter) {
  if (waiter.notified_) return;
  waiter.notified_ = true;
  waiter.thread_->Wake();
}

void DescriptorWatch::Close() {
  closed_ = true;
  for (Waiter* waiter = first_; waiter != nullptr; waiter = waiter->next_) Tell(*waiter);
}

void DescriptorWatch::CloseSoon(const std::shared_ptr<DescriptorWatch>& watch) {
  watch->loop_.readiness()->Unwatch(watch->number_, watch);
  if (Loop::Current() == &watch->loop_) {
    watch->Close();
  } else {
    watch->loop_.Post([watch] { watch->Close(); });
  }
}

}  // namespace neptune::interpose
