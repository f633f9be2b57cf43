// Whether service classes run the same kind of requests: what a thread plan supposes.
//
// Threads divide a machine in proportion only among requests that need the same of it. One thread of another kind may
// take more than its share of a disk, of a cache or of the processors, and no allocation of threads gives it back.
//
//   mu G(m)
//    │            ┌────────  of one class
//    │        ╱            ┐
//    │     ╱   ┌───────────┘ the largest ratio of the two, over all m, says how different they are
//    │  ╱  ╱      of another
//    └─┴──┴────────────────► m
//
// Source: [Jamjoom04] V (homogeneous and heterogeneous workloads).
// Departs from source: it gives no measure of the difference; profiles are compared here.
// No I/O, no clock, no threads.
// Threads: pure functions.
// Units: rates a second, times in seconds.
// Limits: requests that use different things for equally long are told apart by their processor time alone.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "neptune/mtrr/speedup.h"

namespace neptune {

// What was profiled of one class's requests.
struct ClassKind {
  std::string name;
  double service_rate = 0;
  Speedup speedup;
  // Mean processor time of a request; absent: not known.
  std::optional<double> processor_s;
};

struct KindDifference {
  std::string one;
  std::string other;
  // "throughput" or "processor time".
  std::string of;
  // By which factor the larger one is larger.
  double factor = 1;
};

// Two profiles of one kind differ by less: measurements and their fits are good to some percent.
inline constexpr double kKindFactorMax = 1.25;

// The pairs of classes that differ, each with what differs most, in the order given.
std::vector<KindDifference> DifferentKinds(const std::vector<ClassKind>& classes,
                                           double factor_max = kKindFactorMax);

}  // namespace neptune
