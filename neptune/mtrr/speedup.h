// Speedup: the throughput with m threads relative to one thread.
//
//   G(m)                            G(m) = alpha (m - 1) + 1   up to the saturation point m^t
//    │        ┌─────────────             = G(m^t)              beyond it
//    │     ╱  ┊
//    │  ╱     ┊      Collapse beyond some number of threads is not modelled; the fit leaves
//    1        ┊      such measurements out and reports it.
//    └─┴──────┴─────────────► m
//      1     m^t
//
// Source: [Jamjoom04] II, (1).
// No I/O, no clock, no threads.
// Threads: immutable values and pure functions.
// Units: threads; throughput is requests a second.
// Errors: kInvalidArgument an alpha outside [0, 1], no thread, measurements that are not positive,
//   fewer than two numbers of threads, no measurement with one thread.
// Limits: kThreadCountMax threads.

#pragma once

#include <cstdint>
#include <vector>

#include "neptune/base/status.h"

namespace neptune {

inline constexpr int kThreadCountMax = 4096;

class Speedup {
 public:
  // The default has no speedup: G(m) = 1.
  Speedup() = default;
  static StatusOr<Speedup> Make(double alpha, int saturation_point);

  // REQUIRES: m >= 1; it may be fractional for a share of a thread.
  double At(double threads) const;
  double alpha() const { return alpha_; }
  int saturation_point() const { return saturation_point_; }

 private:
  Speedup(double alpha, int saturation_point)
      : alpha_(alpha), saturation_point_(saturation_point) {}

  double alpha_ = 0;
  int saturation_point_ = 1;
};

// The best throughput with a number of threads.
struct ThroughputPoint {
  int threads = 1;
  double throughput = 0;
};

struct SpeedupFit {
  Speedup speedup;
  // Rate of one thread.
  double service_rate = 0;
  // The largest deviation of a measurement from the fit, as a share of the measurement.
  double error_max = 0;
  // Number of threads from which throughput collapses; those points are left out. 0: no collapse.
  int collapse_point = 0;
};

// Fits the speedup with the least squares of relative deviations, over all measured saturation
// points. Throughput that falls below kCollapseShare of the best before it has collapsed; if all
// but one thread has, there is no speedup.
StatusOr<SpeedupFit> FitSpeedup(std::vector<ThroughputPoint> points);

inline constexpr double kCollapseShare = 0.8;

// Returns the smallest number of threads with at least `share` of the best throughput: more of them
// gain nothing and cost the other classes their turns. It uses the measurements, not the fit,
// because real services have a rounder corner. REQUIRES: there are points.
int FewestThreads(const std::vector<ThroughputPoint>& points, double share = 0.97);

}  // namespace neptune
