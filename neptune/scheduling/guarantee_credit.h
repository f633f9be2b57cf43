// What each class is due of its guaranteed share, in every short time: what it had before does not count against it.
//
//   a request of class j is picked that will consume s:   credit of each k  += guarantee of k * s
//                                                         credit of j       -= s
//
// Credit is kept within one request below zero and two above, so that a class which had more than its share for long is not
// held back for it, as it is by shares of what was consumed lately (class_consumption.h), and one that was idle does not
// get all of that at once. A class that waits and has credit is to be served.
//
// Deficit round robin (Shreedhar and Varghese 1995) with bounds.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Units: consumption in the caller's unit. Limits: OnPicked is O(classes).

#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace neptune {

class GuaranteeCredit {
 public:
  // Of each class, 0 to 1, together at most 1.
  explicit GuaranteeCredit(std::vector<double> guarantees)
      : guarantees_(std::move(guarantees)), credit_(guarantees_.size(), 0) {}

  // `consumption[k]`: what a request of class k consumes in the mean.
  void OnPicked(size_t service_class, const std::vector<double>& consumption) {
    const double picked = consumption[service_class];
    credit_[service_class] -= picked;
    for (size_t k = 0; k < credit_.size(); ++k) {
      const double more = credit_[k] + guarantees_[k] * picked;
      credit_[k] = std::min(std::max(more, -consumption[k]), 2 * consumption[k]);
    }
  }

  // Above 0: it is due.
  double Of(size_t service_class) const { return credit_[service_class]; }

 private:
  const std::vector<double> guarantees_;
  std::vector<double> credit_;
};

}  // namespace neptune
