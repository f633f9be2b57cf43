// Credit of each class against its guaranteed share, so that guarantees hold over every short
// interval.
//
//   a request of class j is picked that will consume s:   credit of each k  += guarantee of k * s
//                                                         credit of j       -= s
//
// Credit is kept between one request below zero and two above. A class that had more than its share
// for long is therefore not held back for it, as it would be by decayed shares
// (class_consumption.h), and a class that was idle does not catch up all at once. A waiting class
// with credit is served first.
//
// Source: deficit round robin [Shreedhar95], with bounds.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Units: consumption in the caller's unit.
// Limits: OnPicked is O(classes).

#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace neptune {

class GuaranteeCredit {
 public:
  // Guarantee of each class, 0 to 1; the sum is at most 1.
  explicit GuaranteeCredit(std::vector<double> guarantees)
      : guarantees_(std::move(guarantees)), credit_(guarantees_.size(), 0) {}

  // `consumption[k]`: mean consumption of a request of class k.
  void OnPicked(size_t service_class, const std::vector<double>& consumption) {
    const double picked = consumption[service_class];
    credit_[service_class] -= picked;
    for (size_t k = 0; k < credit_.size(); ++k) {
      const double more = credit_[k] + guarantees_[k] * picked;
      credit_[k] = std::min(std::max(more, -consumption[k]), 2 * consumption[k]);
    }
  }

  // Credit of the class; above 0 it is due.
  double Of(size_t service_class) const { return credit_[service_class]; }

 private:
  const std::vector<double> guarantees_;
  std::vector<double> credit_;
};

}  // namespace neptune
