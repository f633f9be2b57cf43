// What a service's requests may take at present, and which of them have taken it.
//
//   requests end ──► OnServed, OnLost ──► TimeLimit: threshold, by the share that is lost;
//   the queue ─────► SetOldestWaiting ──►            the lower bound while the first has waited too long,
//   requests come ─► OnArrival ─────────►            here or before it was sent here
//                                             ▲
//   a request asks as it works ───────────────┤ Over?    a stop check of the handler
//   and is looked at while it waits ──────────┘          a timer of its loop: what it waits for is called off
//
// A request that is over the threshold, and whose turn it is to be ended (EndingOrder), is told to stop where it asks,
// and where it waits. Nobody is told who never asks and never waits.
//
// Source: [Zhou06], "Threshold Controller".
// Departs from source: no signal; who works asks, as query evaluation does every few thousand postings, and the answer
//   is one comparison with the time. A loss is seen only once the queue is full, so that short requests have waited for
//   as many long ones as it holds: the wait goal sees the first one. Without it (nullopt) the controller is the source's.
// Threads: TimeLimit thread-safe; a LimitedRequest belongs to its loop, but `over` and `Over` are for any.

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
  // While a request has waited this long for its turn, those that run may take no more than the lower bound. So they may
  // after one came that had waited so long where its sender lets in only as many as there is room for: the queue is
  // there then, and not here. Smaller: short requests wait less for long ones, and more long ones are ended that the
  // service had time for.
  std::optional<Duration> wait_goal;
  EndingOrder order = EndingOrder::kAge;
};

class TimeLimit {
 public:
  // REQUIRES: the options are sound, see FaultOf.
  explicit TimeLimit(const TimeLimitOptions& options)
      : lower_bound_(options.threshold.lower_bound),
        upper_bound_(options.threshold.upper_bound),
        wait_goal_(options.wait_goal),
        order_(options.order),
        controller_(options.threshold),
        threshold_ns_(options.threshold.upper_bound.count()) {}

  // A request was answered, in whatever way; or was refused or waited until it was too late.
  void OnServed(TimePoint now);
  void OnLost(TimePoint now);
  // A request came that had waited before it was sent.
  void OnArrival(TimePoint now, Duration waited) {
    if (!wait_goal_ || waited < *wait_goal_) return;
    others_wait_until_ns_.store(
        (now + kHoldsPerLowerBound * lower_bound_).time_since_epoch().count(),
        std::memory_order_relaxed);
  }
  // Follows the time although nothing ends.
  void Renew(TimePoint now);

  // When the request came that has waited longest; kNever if none waits.
  void SetOldestWaiting(TimePoint arrived) {
    oldest_waiting_ns_.store(arrived.time_since_epoch().count(), std::memory_order_relaxed);
  }

  // By loss alone.
  Duration threshold() const { return Duration(threshold_ns_.load(std::memory_order_relaxed)); }
  Duration ThresholdAt(TimePoint now) const {
    if (!wait_goal_) return threshold();
    const Duration at = now.time_since_epoch();
    const bool others_wait =
        at - *wait_goal_ >= Duration(oldest_waiting_ns_.load(std::memory_order_relaxed)) ||
        at < Duration(others_wait_until_ns_.load(std::memory_order_relaxed));
    return others_wait ? lower_bound_ : threshold();
  }
  // Nobody is over before.
  Duration lower_bound() const { return lower_bound_; }
  double Loss(TimePoint now) const;

 private:
  friend class LimitedRequest;
  // What passes at least between two that are ended by kRelief below the upper bound, as a part of the lower bound: by
  // then those that wait have had what the first one gave back.
  static constexpr int kReliefsPerLowerBound = 8;
  // How long others count as waiting after one that had waited came: for as long as it and those that run beside it may
  // take, and once more. When one of them ends the next comes, and tells anew.
  static constexpr int kHoldsPerLowerBound = 2;

  void Begin(LimitedRequest* request);
  void End(const LimitedRequest* request);
  // Whether the request, which is over the threshold, is to be ended now.
  bool IsNext(const LimitedRequest& request, TimePoint now);

  const Duration lower_bound_;
  const Duration upper_bound_;
  const std::optional<Duration> wait_goal_;
  const EndingOrder order_;
  mutable LeafMutex mutex_;
  mutable TerminationThreshold controller_ ABSL_GUARDED_BY(mutex_);
  // Of kRelief.
  std::vector<LimitedRequest*> running_ ABSL_GUARDED_BY(mutex_);
  TimePoint ended_at_ ABSL_GUARDED_BY(mutex_) = TimePoint::min();
  std::atomic<int64_t> threshold_ns_;
  std::atomic<int64_t> oldest_waiting_ns_{kNever.time_since_epoch().count()};
  std::atomic<int64_t> others_wait_until_ns_{TimePoint::min().time_since_epoch().count()};
};

// One request under a limit, from its begin to its end.
class LimitedRequest {
 public:
  // `end_waiting` runs once, on the loop, when the request is found over its limit while the loop is free, as it is
  // while the request waits.
  // REQUIRES: on `loop`'s thread.
  LimitedRequest(TimeLimit& limit, Loop& loop, TimePoint begin, Task end_waiting);
  // REQUIRES: on the loop's thread.
  ~LimitedRequest();
  LimitedRequest(const LimitedRequest&) = delete;
  LimitedRequest& operator=(const LimitedRequest&) = delete;

  // Whether it has taken all that it may take; from then on always.
  bool Over(TimePoint now) const;
  // Leaves the pool to wait for another node, and is back. On the loop's thread.
  void LeavePool(TimePoint now);
  void ReturnToPool(TimePoint now);
  // Whether that was ever found.
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
  // Under the limit's mutex.
  Duration in_pool_{0};  // before in_pool_since_
  TimePoint in_pool_since_;
  bool is_in_pool_ = true;
};

}  // namespace neptune
