// Arrival times of a generated trace: a renewal process with a time-dependent rate.
//
//   rate(t) = 1 / gap_mean * curve(hour of t) * fluctuation(t) * burst(t)   each factor with mean 1
//   gaps are gamma-distributed in the time that runs at rate(t)             exponential by default
//
// If the rate has a relative standard deviation of v, the gaps of a Poisson process have a
// coefficient of variation of sqrt(1 + 2 v^2), and so have those of a thinned process. One
// fluctuation therefore gives both the whole stream and its non-cached part the deviation of table
// 4.2.
//
// Source: [Shen02] 4.5.1, table 4.2 (intervals), 1 and 4.1 (daily peak).
// Threads: thread-compatible.
// Units: microseconds from the trace's beginning.
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

  // Returns the next request's time in microseconds; times never decrease.
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
  double burst_mean_ = 1;      // mean of the burst factor, for normalisation
  double fluctuation_ = 0;     // logarithm, standard deviation 1
  double burst_left_s_ = 0;
  uint64_t step_ = 0;
  double position_s_ = 0;  // time of the last request
  double rate_ = 0;        // of the current step, requests per second
};

// `rates` raised to one power, so that the largest is `peak_to_mean` times their mean; unchanged if
// that is 0 or all are equal.
std::vector<double> SharpenCurve(std::vector<double> rates, double peak_to_mean);

}  // namespace search::tools
