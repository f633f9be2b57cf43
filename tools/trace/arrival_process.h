// Arrival times of a generated trace: a renewal process with a time-dependent rate.
//
//   rate(t) = 1 / gap_mean * curve(hour of t) * fluctuation(t) * burst(t)   each factor with mean 1
//   gaps are gamma-distributed in the time that runs at rate(t)             exponential by default
//
// A rate that moves by a standard deviation of v around its mean makes the gaps of a Poisson
// process deviate by sqrt(1 + 2 v^2) of their mean, and those of a thinned one by the same: so the
// fluctuation gives the whole stream and its non-cached part the deviation of table 4.2 at once.
//
// Source: [Shen02] 4.5.1, table 4.2 (intervals), 1 and 4.1 (daily peak).
// Threads: thread-compatible. Units: microseconds from the trace's beginning.
// Limits: the rate is constant for kStep. The same profile and seed give the same times.

#pragma once

#include <cstdint>
#include <vector>

#include "neptune/world/random_source.h"
#include "tools/trace/trace_profile.pb.h"

namespace search::tools {

class ArrivalProcess {
 public:
  // REQUIRES: CheckTraceProfile(profile) is OK.
  ArrivalProcess(const TraceProfile& profile, uint64_t seed);

  // The next request's time, in microseconds; never before the last one's.
  double NextUs();

 private:
  static constexpr double kStepS = 1;

  double Gaussian();
  double GammaOfMeanOne();
  void EnterStep();

  const TraceProfile profile_;
  neptune::RandomSource gap_random_;
  neptune::RandomSource rate_random_;
  std::vector<double> curve_;  // one factor an hour of the day, mean 1 over the trace
  double burst_mean_ = 1;      // of the burst's factor, to divide by
  double fluctuation_ = 0;     // logarithm, deviation 1
  double burst_left_s_ = 0;
  uint64_t step_ = 0;
  double position_s_ = 0;  // where the last request is
  double rate_ = 0;        // of the step, requests a second
};

// `rates` raised to one power, so that the largest is `peak_to_mean` times their mean; unchanged if
// that is 0 or all are equal.
std::vector<double> SharpenCurve(std::vector<double> rates, double peak_to_mean);

}  // namespace search::tools
