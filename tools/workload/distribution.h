// Random variables fitted to published moments: service times and gaps between arrivals.
//
// Source: the fits are ours; each factory says what it is fitted to.
// Threads: immutable values.
// Units: the caller's; by convention milliseconds.
// Limits: every sample is positive and finite.

#pragma once

#include <utility>
#include <vector>

#include "neptune/world/random_source.h"

namespace search::workload {

class Distribution {
 public:
  // Always `value`.
  static Distribution Fixed(double value);
  static Distribution Exponential(double mean);
  // Gamma with these moments: what is known of a trace when only its mean and deviation are
  //   printed. With the deviation equal to the mean it is exponential.
  static Distribution Gamma(double mean, double deviation);
  // Log-normal cut off at `max`, with this mean and 90th percentile after the cut. If two
  // distributions qualify, returns the one with the heavier tail. REQUIRES: mean < p90 < max, and
  // such a distribution exists.
  static Distribution HeavyTail(double mean, double p90, double max);
  // Samples one of the values with probability proportional to its weight.
  static Distribution Choice(std::vector<std::pair<double, double>> value_weights);

  double Sample(neptune::RandomSource& random) const;
  double mean() const { return mean_; }
  double deviation() const { return deviation_; }
  // The same shape with another mean.
  Distribution ScaledTo(double mean) const;

 private:
  enum class Kind { kFixed, kExponential, kGamma, kHeavyTail, kChoice };
  explicit Distribution(Kind kind) : kind_(kind) {}

  Kind kind_;
  double mean_ = 0;
  double deviation_ = 0;
  double scale_ = 1;
  double a_ = 0;  // gamma: shape, log-normal: mu
  double b_ = 0;  // gamma: scale, log-normal: sigma
  double max_ = 0;
  std::vector<std::pair<double, double>> choices_;  // value, cumulated share
};

}  // namespace search::workload
