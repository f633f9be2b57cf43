// The current time limit of a service's requests, and the detection of requests over the limit.
//
//   requests end ────► OnServed, OnLost ──► TimeLimit: threshold, by the share of lost requests;
//   the queue ───────► SetOldestWaiting ──►            the lower bound while a request has waited
//   requests arrive ─► OnArrival ─────────►            too long, here or at its sender
//                                             ▲
//   a running request polls ──────────────────┤ Over?    ShouldStop in the handler
//   a waiting request is checked ─────────────┘          a timer of its loop, which ends the wait
//
// A request that is over the threshold, and next in the EndingOrder, is stopped where it polls and
// where it waits. A request that never polls and never waits is not stopped.
//
// Source: [Zhou06], "Threshold Controller".
// Departs from source: uses no signal; a running request polls, as query evaluation does every few
//   thousand postings, at the cost of one time comparison. Loss is detected only once the queue is
//   full, when short requests have already waited for that many long ones; the wait goal reacts to
//   the first. Without a wait goal (nullopt) the controller is that of the source.
// Threads: TimeLimit is thread-safe; a LimitedRequest belongs to its loop, but `over` and `Over`
//   run on any thread.

#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"
#include "neptune/sert/ending_order.h"
#include "neptune/sert/termination_threshold.h"
#include "neptune/world/loop.h"

namespace neptune {

class LimitedRequest;

struct TimeLimitOptions {
  ThresholdOptions threshold;
  // The limit is the lower bound while a request has been queued for this long. The same holds
  // after the arrival of a request that was queued for this long at its sender, because a sender
  // with admission control queues requests in place of this service. Smaller: short requests wait
  // less for long ones, but more long requests are ended that the service had time for.
  std::optional<Duration> wait_goal;
  EndingOrder order = EndingOrder::kAge;
};

class TimeLimit {
 public:
  // REQUIRES: the options are valid, see FaultOf.
  explicit TimeLimit(const TimeLimitOptions& options)
      : lower_bound_(options.threshold.lower_bound),
        upper_bound_(options.threshold.upper_bound),
        wait_goal_(options.wait_goal),
        order_(options.order),
        controller_(options.threshold),
        threshold_ns_(options.threshold.upper_bound.count()) {}

  // OnServed: a request was answered, with any status. OnLost: it was refused or expired in the
  // queue.
  void OnServed(TimePoint now);
  void OnLost(TimePoint now);
  // A request arrived that had been queued at its sender.
  void OnArrival(TimePoint now, Duration waited) {
    if (!wait_goal_ || waited < *wait_goal_) return;
    others_wait_until_ns_.store(
        (now + kHoldsPerLowerBound * lower_bound_).time_since_epoch().count(),
        std::memory_order_relaxed);
  }
  // Updates the threshold even if no requests end.
  void Renew(TimePoint now);

  // Sets the arrival time of the oldest queued request; kNever if none is queued.
  void SetOldestWaiting(TimePoint arrived) {
    oldest_waiting_ns_.store(arrived.time_since_epoch().count(), std::memory_order_relaxed);
  }

  // The threshold by loss alone.
  Duration threshold() const { return Duration(threshold_ns_.load(std::memory_order_relaxed)); }
  Duration ThresholdAt(TimePoint now) const {
    if (!wait_goal_) return threshold();
    const Duration at = now.time_since_epoch();
    const bool others_wait =
        at - *wait_goal_ >= Duration(oldest_waiting_ns_.load(std::memory_order_relaxed)) ||
        at < Duration(others_wait_until_ns_.load(std::memory_order_relaxed));
    return others_wait ? lower_bound_ : threshold();
  }
  // Lower bound of the limit.
  Duration lower_bound() const { return lower_bound_; }
  double Loss(TimePoint now) const;

 private:
  friend class LimitedRequest;
  // kRelief ends at most one request per lower bound / kReliefsPerLowerBound below the upper bound,
  // so that queued requests can use the place that the previous one released.
  static constexpr int kReliefsPerLowerBound = 8;
  // Number of lower bounds for which requests count as waiting after the arrival of one that had
  // waited: one for it and the running requests, and one more. When one of these ends, the next
  // request arrives and renews this.
  static constexpr int kHoldsPerLowerBound = 2;

  void Begin(LimitedRequest* request);
  void End(const LimitedRequest* request);
  // True if the request is to be ended now. REQUIRES: it is over the threshold.
  bool IsNext(const LimitedRequest& request, TimePoint now);

  const Duration lower_bound_;
  const Duration upper_bound_;
  const std::optional<Duration> wait_goal_;
  const EndingOrder order_;
  mutable LeafMutex mutex_;
  mutable TerminationThreshold controller_ ABSL_GUARDED_BY(mutex_);
  // Used by kRelief only.
  std::vector<LimitedRequest*> running_ ABSL_GUARDED_BY(mutex_);
  TimePoint ended_at_ ABSL_GUARDED_BY(mutex_) = TimePoint::min();
  std::atomic<int64_t> threshold_ns_;
  std::atomic<int64_t> oldest_waiting_ns_{kNever.time_since_epoch().count()};
  std::atomic<int64_t> others_wait_until_ns_{TimePoint::min().time_since_epoch().count()};
};

// One request under a limit, from its start to its end.
class LimitedRequest {
 public:
  // `end_waiting` runs once, on the loop, when the request is found over its limit while the loop
  // is free, i.e. while the request waits. REQUIRES: on `loop`'s thread.
  LimitedRequest(TimeLimit& limit, Loop& loop, TimePoint begin, Task end_waiting);
  // REQUIRES: on the loop's thread.
  ~LimitedRequest();
  LimitedRequest(const LimitedRequest&) = delete;
  LimitedRequest& operator=(const LimitedRequest&) = delete;

  // True if the request is to be stopped; stays true from then on.
  bool Over(TimePoint now) const;
  // The request leaves the pool to wait for another node, and returns. On the loop's thread.
  void LeavePool(TimePoint now);
  void ReturnToPool(TimePoint now);
  // True if Over ever returned true, or the timer found the request over its limit.
  bool over() const { return over_.load(std::memory_order_relaxed); }

 private:
  friend class TimeLimit;
  void Check(TimePoint when);
  void Check();
  RunningRequest Running(TimePoint now) const;

  TimeLimit& limit_;
  Loop& loop_;
  const TimePoint begin_;
  Task end_waiting_;
  mutable std::atomic<bool> over_{false};
  TimerId timer_ = 0;
  // Guarded by the limit's mutex.
  Duration in_pool_{0};  // before in_pool_since_
  TimePoint in_pool_since_;
  bool is_in_pool_ = true;
};

}  // namespace neptune
