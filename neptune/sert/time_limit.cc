#include "neptune/sert/time_limit.h"

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

// Number of checks per lower bound of a waiting request that is older than the lower bound; needed
// because the threshold may have fallen in the meantime.
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

void TimeLimit::Begin(LimitedRequest* request) {
  if (order_ == EndingOrder::kAge) return;
  LeafLock lock(&mutex_);
  running_.push_back(request);
}

void TimeLimit::End(const LimitedRequest* request) {
  if (order_ == EndingOrder::kAge) return;
  LeafLock lock(&mutex_);
  std::erase(running_, request);
}

bool TimeLimit::IsNext(const LimitedRequest& request, TimePoint now) {
  if (order_ == EndingOrder::kAge || now - request.begin_ >= upper_bound_) return true;
  const Duration age_min = ThresholdAt(now);
  LeafLock lock(&mutex_);
  if (ended_at_ != TimePoint::min() && now - ended_at_ < lower_bound_ / kReliefsPerLowerBound) {
    return false;
  }
  std::vector<const LimitedRequest*> requests;
  std::vector<RunningRequest> running;
  for (const LimitedRequest* one : running_) {
    if (one->over()) continue;
    requests.push_back(one);
    running.push_back(one->Running(now));
  }
  const std::optional<size_t> next = MostRelieving(running, age_min);
  if (!next || requests[*next] != &request) return false;
  ended_at_ = now;
  return true;
}

LimitedRequest::LimitedRequest(TimeLimit& limit, Loop& loop, TimePoint begin, Task end_waiting)
    : limit_(limit),
      loop_(loop),
      begin_(begin),
      end_waiting_(std::move(end_waiting)),
      in_pool_since_(begin) {
  Check(begin + limit.lower_bound());
  limit.Begin(this);
}

LimitedRequest::~LimitedRequest() {
  limit_.End(this);
  if (timer_ != 0) loop_.CancelTimer(timer_);
}

RunningRequest LimitedRequest::Running(TimePoint now) const {
  return {now - begin_, in_pool_ + (is_in_pool_ ? now - in_pool_since_ : Duration(0)), is_in_pool_};
}

void LimitedRequest::LeavePool(TimePoint now) {
  LeafLock lock(&limit_.mutex_);
  in_pool_ = Running(now).in_pool;
  is_in_pool_ = false;
}

void LimitedRequest::ReturnToPool(TimePoint now) {
  LeafLock lock(&limit_.mutex_);
  in_pool_since_ = now;
  is_in_pool_ = true;
}

bool LimitedRequest::Over(TimePoint now) const {
  if (over()) return true;
  if (now - begin_ < limit_.ThresholdAt(now) || !limit_.IsNext(*this, now)) return false;
  over_.store(true, std::memory_order_relaxed);
  return true;
}

void LimitedRequest::Check(TimePoint when) {
  timer_ = loop_.RunAt(when, [this] { Check(); });
}

void LimitedRequest::Check() {
  timer_ = 0;
  const TimePoint now = loop_.Now();
  limit_.Renew(now);
  if (!Over(now)) {
    const Duration between = std::max(kLookInterval, limit_.lower_bound() / kLooksPerLowerBound);
    return Check(
        std::max(now + kLookInterval, std::min(begin_ + limit_.ThresholdAt(now), now + between)));
  }
  if (Task end_waiting = std::exchange(end_waiting_, nullptr)) end_waiting();
}

}  // namespace neptune
