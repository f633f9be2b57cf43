// How much more work is done a second with m threads than with one.
//
//   G(m)                                      G(m) = alpha (m - 1) + 1   up to the saturation point m^t
//    │        ┌─────────────                       = G(m^t)              beyond it
//    │     ╱  ┊
//    │  ╱     ┊      What collapses beyond some number of threads is not described; the fit leaves such
//    1        ┊      measurements out and says so.
//    └─┴──────┴─────────────► m
//      1     m^t
//
// Source: [Jamjoom04] II, (1).
// No I/O, no clock, no threads.
// Threads: immutable values and pure functions.
// Units: threads; throughput is requests a second.
// Errors: kInvalidArgument an alpha outside [0, 1], no thread, measurements that are not positive, fewer than two numbers
//   of threads, no measurement with one thread.
// Limits: kThreadCountMax threads.

#pragma once

#include <cstdint>
#include <vector>

#include "neptune/base/status.h"

namespace neptune {

inline constexpr int kThreadCountMax = 4096;

class Speedup {
 public:
  // None: G(m) = 1.
  Speedup() = default;
  static StatusOr<Speedup> Make(double alpha, int saturation_point);

  // REQUIRES: m >= 1; not whole where a share of a thread counts.
  double At(double threads) const;
  double alpha() const { return alpha_; }
  int saturation_point() const { return saturation_point_; }

 private:
  Speedup(double alpha, int saturation_point)
      : alpha_(alpha), saturation_point_(saturation_point) {}

  double alpha_ = 0;
  int saturation_point_ = 1;
};

// The most that was done with so many threads.
struct ThroughputPoint {
  int threads = 1;
  double throughput = 0;
};

struct SpeedupFit {
  Speedup speedup;
  // Of one thread.
  double service_rate = 0;
  // The largest deviation of a measurement from the fit, as a share of the measurement.
  double error_max = 0;
  // From this number of threads on throughput collapses, and is left out; 0: it does not.
  int collapse_point = 0;
};

// The speedup with the least squares of relative deviations, over all saturation points that were measured. Throughput
// that falls below kCollapseShare of the best before it has collapsed.
StatusOr<SpeedupFit> FitSpeedup(std::vector<ThroughputPoint> points);

inline constexpr double kCollapseShare = 0.8;

// The smallest number of threads with at least `share` of the best throughput: more of them bring nothing and cost the
// other classes their turns. Of measurements, not of the fit, whose corner real services round off.
// REQUIRES: there are points.
int FewestThreads(const std::vector<ThroughputPoint>& points, double share = 0.97);

}  // namespace neptune
