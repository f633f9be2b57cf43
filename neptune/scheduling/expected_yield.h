// What a request of one class may be expected to yield by how long it has waited, as the times of service are learned.
//
// Two readings: with the mean time of service, as the papers' policies want it; and over an exponential time of service
// with that mean (OverTimes), which falls smoothly where the other one drops at the deadline.
//
// Source: [Shen02] 4.4.2 (predictions are exponentially weighted averages of the class's past requests).
// Departs from source: the expectation over the times of service is ours.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Limits: OverTimes is of a table of kTableSize steps up to the deadline, made anew when the mean has moved by a
//   twentieth; between steps it is straight.

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
  // Of the expected time of service, for each that was dropped: a hundred of them leave a third.
  static constexpr double kDoubt = 0.99;

  // Absent: 1 at all times.
  explicit ExpectedYield(const std::optional<YieldFunction>& yield);

  void OnServed(Duration served_for);
  // A request was dropped although its time was not over, because those before it took so long: whether that still holds
  // is learned only if one is tried again, sooner or later.
  void Discount() { served_ns_.Scale(kDoubt); }

  double full() const { return yield_ ? yield_->full() : 1; }
  Duration mean_service() const { return Duration(static_cast<int64_t>(served_ns_.value())); }
  double WithMeanService(Duration waited) const {
    return yield_ ? yield_->At(waited + mean_service()) : 1;
  }
  double OverTimes(Duration waited) const { return AtStep(StepOf(waited)); }
  // The same in two halves, for those who ask for one request at several times: times are so many steps of the table, which
  // add up.
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
  double steps_per_ns_ = 0;  // without a yield there is but the first
  std::array<double, kTableSize + 1> table_{};
};

}  // namespace neptune
