#include "neptune/sert/time_limit.h"

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

// How many times within the lower bound a waiting request is looked at once it has taken that: the threshold may have
// fallen meanwhile.
constexpr int kLooksPerLowerBound = 4;
constexpr Duration kLookInterval = std::chrono::milliseconds(1);

}  // namespace

void TimeLimit::OnServed(TimePoint now) {
  LeafLock lock(&mutex_);
  controller_.OnServed(now);
  threshold_ns_.store(controller_.Now(now).count(), std::memory_order_relaxed);
}

void TimeLimit::OnLost(TimePoint now) {
  LeafLock lock(&mutex_);
  controller_.OnLost(now);
  threshold_ns_.store(controller_.Now(now).count(), std::memory_order_relaxed);
}

void TimeLimit::Renew(TimePoint now) {
  LeafLock lock(&mutex_);
  threshold_ns_.store(controller_.Now(now).count(), std::memory_order_relaxed);
}

double TimeLimit::Loss(TimePoint now) const {
  LeafLock lock(&mutex_);
  return controller_.Loss(now);
}

LimitedRequest::LimitedRequest(TimeLimit& limit, Loop& loop, TimePoint begin, Task end_waiting)
    : limit_(limit), loop_(loop), begin_(begin), end_waiting_(std::move(end_waiting)) {
  LookAt(begin + limit.lower_bound());
}

LimitedRequest::~LimitedRequest() {
  if (timer_ != 0) loop_.CancelTimer(timer_);
}

bool LimitedRequest::Over(TimePoint now) const {
  if (over()) return true;
  if (now - begin_ < limit_.ThresholdAt(now)) return false;
  over_.store(true, std::memory_order_relaxed);
  return true;
}

void LimitedRequest::LookAt(TimePoint when) {
  timer_ = loop_.RunAt(when, [this] { Look(); });
}

void LimitedRequest::Look() {
  timer_ = 0;
  const TimePoint now = loop_.Now();
  limit_.Renew(now);
  if (!Over(now)) {
    const Duration between = std::max(kLookInterval, limit_.lower_bound() / kLooksPerLowerBound);
    return LookAt(
        std::max(now + kLookInterval, std::min(begin_ + limit_.ThresholdAt(now), now + between)));
  }
  if (Task end_waiting = std::exchange(end_waiting_, nullptr)) end_waiting();
}

}  // namespace neptune
