// What each service class has consumed of a node, recent consumption counting most:
//
//   u_k(t) = sum over the completed requests r of class k of beta^(t - ct(r)) * s(r)
//
// with ct(r) the time of completion and s(r) what it consumed.
//
// All sums are kept as of one common moment, so that shares, which are what scheduling asks for, need no power: adding
// costs one, and a share is a division.
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

  // A time before the newest one seen counts as that one. Negative amounts count as 0.
  void Add(size_t service_class, double amount, TimePoint now);

  // Of all that all classes consumed; 0 before anything was.
  double Share(size_t service_class) const { return sum_ > 0 ? kept_[service_class] / sum_ : 0; }
  // u_k(t).
  double Value(size_t service_class, TimePoint now) const;

 private:
  double WeightAt(TimePoint now) const;
  void MoveMoment(TimePoint now);

  const double log_retention_;
  std::vector<double> kept_;  // of each class, grown by how long after moment_ it was consumed
  double sum_ = 0;
  TimePoint moment_{};
  TimePoint newest_{};
};

}  // namespace neptune
