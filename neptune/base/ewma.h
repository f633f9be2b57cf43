// Decaying averages and sums: exponentially weighted by sample, and decayed by time.
//
// Source: [Shen02] chapter 4 (consumption decays with beta = 0.95, in units of one second).
// No clock: the caller passes the time.
// Threads: thread-compatible.
// Units: the caller's.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "neptune/base/time.h"

namespace neptune {

// value = (1 - weight) * value + weight * sample. The first 1 / weight samples are averaged with
// equal weights, so that none of them dominates; until then the value is their mean.
class Ewma {
 public:
  // REQUIRES: 0 < weight <= 1. Larger: follows faster, smooths less.
  explicit Ewma(double weight) : weight_(weight) {}

  void Add(double sample) {
    ++count_;
    value_ += std::max(weight_, 1 / static_cast<double>(count_)) * (sample - value_);
  }
  // Multiplies all samples so far by `factor`.
  void Scale(double factor) { value_ *= factor; }
  // Returns 0 before the first sample.
  double value() const { return value_; }
  double ValueOr(double otherwise) const { return count_ == 0 ? otherwise : value_; }
  uint64_t count() const { return count_; }

 private:
  double weight_;
  double value_ = 0;
  uint64_t count_ = 0;
};

// A sum that decays: an amount added t seconds ago counts retention^t.
class DecayedCounter {
 public:
  // REQUIRES: 0 < retention_per_second <= 1.
  explicit DecayedCounter(double retention_per_second)
      : log_retention_(std::log(retention_per_second)) {}
  static DecayedCounter WithHalfLife(Duration half_life) {
    return DecayedCounter(std::pow(0.5, 1 / ToSeconds(half_life)));
  }

  // A time before the newest one seen is treated as the newest.
  void Add(double amount, TimePoint now) {
    value_ = Value(now) + amount;
    newest_ = std::max(newest_, now);
  }
  double Value(TimePoint now) const {
    if (now <= newest_) return value_;
    return value_ * std::exp(log_retention_ * ToSeconds(now - newest_));
  }
  // At a steady rate of r a second the value converges to r * MeanAgeSeconds(), so Value /
  // MeanAgeSeconds() estimates r.
  double MeanAgeSeconds() const { return -1 / log_retention_; }

 private:
  double log_retention_;
  double value_ = 0;
  TimePoint newest_{};
};

}  // namespace neptune
