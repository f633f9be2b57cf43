// Decayed resource consumption of each service class on a node:
//
//   u_k(t) = sum over the completed requests r of class k of beta^(t - ct(r)) * s(r)
//
// where ct(r) is the completion time and s(r) the consumption.
//
// All sums refer to one common moment. Scheduling only compares shares, which then need no power:
// adding costs one, a share is a division.
//
// Source: [Shen02] 4.4.1, (4.4.1) to (4.4.3), beta = 0.95 a second.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Units: consumption in the caller's unit, for instance processor time; times are TimePoint.

#pragma once

#include <cstddef>
#include <vector>

#include "neptune/base/time.h"

namespace neptune {

inline constexpr double kConsumptionRetention = 0.95;

class ClassConsumption {
 public:
  // REQUIRES: 0 < retention_per_second < 1.
  explicit ClassConsumption(size_t class_count,
                            double retention_per_second = kConsumptionRetention);

  // A time before the newest one seen is treated as the newest. Negative amounts count as 0.
  void Add(size_t service_class, double amount, TimePoint now);

  // Share of the total consumption of all classes; 0 before any consumption.
  double Share(size_t service_class) const { return sum_ > 0 ? kept_[service_class] / sum_ : 0; }
  // Returns u_k(t).
  double Value(size_t service_class, TimePoint now) const;

 private:
  double WeightAt(TimePoint now) const;
  void MoveMoment(TimePoint now);

  const double log_retention_;
  std::vector<double> kept_;  // for each class, scaled by the time of consumption after moment_
  double sum_ = 0;
  TimePoint moment_{};
  TimePoint newest_{};
};

}  // namespace neptune
