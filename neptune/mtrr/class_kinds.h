// Checks whether service classes run the same kind of requests, which a thread plan assumes.
//
// Threads divide a machine in proportion only among requests with the same resource needs. A thread
// with requests of another kind may take more than its share of a disk, of a cache or of the
// processors, and no allocation of threads compensates for that.
//
//   mu G(m)
//    │            ┌────────  of one class
//    │        ╱            ┐
//    │     ╱   ┌───────────┘ the largest ratio of the two, over all m, says how different they are
//    │  ╱  ╱      of another
//    └─┴──┴────────────────► m
//
// Source: [Jamjoom04] V (homogeneous and heterogeneous workloads).
// Departs from source: the source defines no measure of the difference; here profiles are compared.
// No I/O, no clock, no threads.
// Threads: pure functions.
// Units: rates a second, times in seconds.
// Limits: requests that use different resources for equal times differ in their processor time
//   only.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "neptune/mtrr/speedup.h"

namespace neptune {

// The profile of one class's requests.
struct ClassKind {
  std::string name;
  double service_rate = 0;
  Speedup speedup;
  // Mean processor time of a request; nullopt: unknown.
  std::optional<double> processor_s;
};

struct KindDifference {
  std::string one;
  std::string other;
  // "throughput" or "processor time".
  std::string of;
  // Ratio of the larger value to the smaller one.
  double factor = 1;
};

// Profiles of the same kind differ by less; measurements and fits are accurate to a few percent.
inline constexpr double kKindFactorMax = 1.25;

// Returns the pairs of classes that differ, each with its largest difference, in the given order.
std::vector<KindDifference> DifferentKinds(const std::vector<ClassKind>& classes,
                                           double factor_max = kKindFactorMax);

}  // namespace neptune
