// What a service's requests may take at present, and which of them have taken it.
//
//   requests end ──► OnServed, OnLost ──► TimeLimit: threshold, by the share that is lost;
//   the queue ─────► SetOldestWaiting ──►            the lower bound while the first has waited too long
//                                             ▲
//   a request asks as it works ───────────────┤ Over?    a stop check of the handler
//   and is looked at while it waits ──────────┘          a timer of its loop: what it waits for is called off
//
// A request that is over the threshold is told to stop where it asks, and where it waits. Nobody is told who never asks
// and never waits.
//
// Source: SERT, "Threshold Controller"; design of the runtime (SERT: parked requests).
// Departs from source: no signal; who works asks, as query evaluation does every few thousand postings, and the answer
//   is one comparison with the time. A loss is seen only once the queue is full, so that short requests have waited for
//   as many long ones as it holds: the wait goal sees the first one. Without it (nullopt) the controller is the source's.
// Layer: sert. Threads: TimeLimit thread-safe; a LimitedRequest belongs to its loop, but `over` and `Over` are for any.

#pragma once

#include <atomic>
#include <optional>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/time.h"
#include "neptune/sert/termination_threshold.h"
#include "neptune/world/loop.h"

namespace neptune {

struct TimeLimitOptions {
  ThresholdOptions threshold;
  // While a request has waited this long for its turn, those that run may take no more than the lower bound. Smaller:
  // short requests wait less for long ones, and more long ones are ended that the service had time for.
  std::optional<Duration> wait_goal;
};

class TimeLimit {
 public:
  // REQUIRES: the options are sound, see FaultOf.
  explicit TimeLimit(const TimeLimitOptions& options)
      : lower_bound_(options.threshold.lower_bound),
        wait_goal_(options.wait_goal),
        controller_(options.threshold),
        threshold_ns_(options.threshold.upper_bound.count()) {}

  // A request was answered, in whatever way; or was refused or waited until it was too late.
  void OnServed(TimePoint now);
  void OnLost(TimePoint now);
  // Follows the time although nothing ends.
  void Renew(TimePoint now);

  // When the request came that has waited longest; kNever if none waits.
  void SetOldestWaiting(TimePoint arrived) {
    oldest_waiting_ns_.store(arrived.time_since_epoch().count(), std::memory_order_relaxed);
  }

  // By loss alone.
  Duration threshold() const { return Duration(threshold_ns_.load(std::memory_order_relaxed)); }
  Duration ThresholdAt(TimePoint now) const {
    if (wait_goal_ && now.time_since_epoch() - *wait_goal_ >=
                          Duration(oldest_waiting_ns_.load(std::memory_order_relaxed))) {
      return lower_bound_;
    }
    return threshold();
  }
  // Nobody is over before.
  Duration lower_bound() const { return lower_bound_; }
  double Loss(TimePoint now) const;

 private:
  const Duration lower_bound_;
  const std::optional<Duration> wait_goal_;
  mutable LeafMutex mutex_;
  mutable TerminationThreshold controller_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int64_t> threshold_ns_;
  std::atomic<int64_t> oldest_waiting_ns_{kNever.time_since_epoch().count()};
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
  // Whether that was ever found.
  bool over() const { return over_.load(std::memory_order_relaxed); }

 private:
  void LookAt(TimePoint when);
  void Look();

  TimeLimit& limit_;
  Loop& loop_;
  const TimePoint begin_;
  Task end_waiting_;
  mutable std::atomic<bool> over_{false};
  TimerId timer_ = 0;
};

}  // namespace neptune
