// Durations of MICRO's operators: drawn for every request and partition, the same wherever they
// run.
//
// The time of a reduction belongs to the partition it merges: the larger one of the smallest
// partitions of the two results. Over a whole aggregation each partition except the smallest is
// merged once, whatever the tree, so every tree has the same work, only in different places.
//
// Source: [Chu03] 5.1 (exponential times with means of 25 and 5 ms).
// Departs from source: the times are derived from the request's seed; local ones may be
//   heavy-tailed, as those of an index.
// Threads: pure functions.
// Limits: a mean is at most kMicroMeanMax, a deviation of logarithms kMicroLogDeviationMax;
//   heavy-tailed times are cut off at kMicroTimeMax.

#pragma once

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/examples/micro/micro.pb.h"

namespace neptune::examples {

inline constexpr Duration kMicroLocalMean = std::chrono::milliseconds(25);
inline constexpr Duration kMicroReduceMean = std::chrono::milliseconds(5);
inline constexpr Duration kMicroMeanMax = std::chrono::seconds(10);
inline constexpr double kMicroLogDeviationMax = 3;
inline constexpr Duration kMicroTimeMax = std::chrono::seconds(600);

// Makes the paper's request, without slices.
MicroRequest MakeMicroRequest(uint64_t seed);

// Errors: kInvalidArgument a mean or a deviation exceeds its limit.
Status ValidateMicroRequest(const MicroRequest& request);

// Processor time of the local operator on `partition`, and of the reduction that merges it.
Duration MicroLocalTime(const MicroRequest& request, PartitionId partition);
Duration MicroReduceTime(const MicroRequest& request, PartitionId partition);

// Adds both results' sums and times, and the time of the reduction itself; commutative and
// associative.
MicroResult CombineMicroResults(const MicroResult& a, const MicroResult& b, Duration reduce_time);
// Returns the partition whose time a reduction of the two takes.
PartitionId TakenIn(const MicroResult& a, const MicroResult& b);

}  // namespace neptune::examples
