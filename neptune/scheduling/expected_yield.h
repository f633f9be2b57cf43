// The expected yield of a request of one class as a function of its waiting time, with learned
// service times.
//
// There are two estimates: WithMeanService uses the mean service time, as the papers' policies do;
// OverTimes takes the expectation over an exponential service time with that mean, which falls
// smoothly where the other one drops at the deadline.
//
// Source: [Shen02] 4.4.2 (predictions are exponentially weighted averages of the class's past
//   requests).
// Departs from source: the expectation over the service times is ours.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Limits: OverTimes interpolates linearly in a table of kTableSize steps up to the deadline, which
//   is recomputed when the mean has moved by a twentieth.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "neptune/base/ewma.h"
#include "neptune/base/time.h"
#include "neptune/scheduling/yield_function.h"

namespace neptune {

class ExpectedYield {
 public:
  static constexpr size_t kTableSize = 128;
  // Factor on the expected service time for each early drop: a hundred drops leave a third.
  static constexpr double kDoubt = 0.99;

  // nullopt: the yield is 1 at all times.
  explicit ExpectedYield(const std::optional<YieldFunction>& yield);

  void OnServed(Duration served_for);
  // A request was dropped before its deadline because earlier ones took long. Lowering the estimate
  // makes sure that one is tried again eventually, which shows whether it still holds.
  void Discount() { served_ns_.Scale(kDoubt); }

  double full() const { return yield_ ? yield_->full() : 1; }
  Duration mean_service() const { return Duration(static_cast<int64_t>(served_ns_.value())); }
  double WithMeanService(Duration waited) const {
    return yield_ ? yield_->At(waited + mean_service()) : 1;
  }
  double OverTimes(Duration waited) const { return AtStep(StepOf(waited)); }
  // OverTimes in two parts, for callers that evaluate one request at several times: times are
  // converted to (fractional) table steps, which can be added.
  double StepOf(Duration waited) const {
    return std::max(static_cast<double>(waited.count()) * steps_per_ns_, 0.0);
  }
  double AtStep(double at) const {
    if (!(at < kTableSize)) return at > kTableSize ? 0 : table_[kTableSize];
    const auto step = static_cast<int>(at);
    const double* const from = &table_[static_cast<size_t>(step)];
    return from[0] + (at - step) * (from[1] - from[0]);
  }

 private:
  void FillTable();

  const std::optional<YieldFunction> yield_;
  Ewma served_ns_;
  double table_mean_ns_ = 0;
  double steps_per_ns_ = 0;  // 0 without a yield function: only the first entry is used
  std::array<double, kTableSize + 1> table_{};
};

}  // namespace neptune
