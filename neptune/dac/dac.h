// Data aggregation call: runs a local operator on every partition and reduces the results to one.
//
// Succeeds if at least the guaranteed share of the partitions contributed by the deadline; the report
// names who contributed and, for each partition that did not, why.
//
// Source: DAC 3.2-3.3, figures 4 and 5.
// Departs from source: one result and one report instead of output parameters; reasons for what is missing.
// Layer: dac.
// Threads: on a user-level thread; the reduce operator runs on the caller's loop and must not wait.
// Units: the deadline is a TimePoint and soft: what is not there by then is left out.
// Errors: kInvalidArgument a guarantee outside (0, 1] or a deadline that has passed; kNotFound the reduce
//   operator is not registered on this node; kCancelled the node stops; kUnavailable fewer than the guaranteed share contributed
//   (the message counts them; the report has the reasons); an error of the reduce operator.
// Limits: kAggregationPartitionsMax partitions.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "neptune/service/client.h"

namespace neptune {

inline constexpr size_t kAggregationPartitionsMax = 1024;

struct AggregationRequest {
  ServiceName service;
  // Whose results are wanted; duplicates count once. Empty: success with an empty result.
  std::vector<PartitionId> partitions;
  MethodName local;   // operator that runs on each partition, a read
  MethodName reduce;  // operator that combines two results
  Data local_parameters;
  Data reduce_parameters;
  // Least share of the partitions that must contribute, in (0, 1].
  double aggregation_quality_min = 1.0;
  TimePoint deadline = kNever;
};

struct MissingPartition {
  PartitionId partition;
  Status reason;
};

struct AggregationReport {
  std::vector<PartitionId> contributing_partitions;  // ascending
  std::vector<MissingPartition> missing;             // ascending
  // What each contributing server measured: the slowest one's times.
  Duration queue_time_max{0};
  Duration run_time_max{0};
  double quality() const {
    const size_t all = contributing_partitions.size() + missing.size();
    return all == 0
               ? 1.0
               : static_cast<double>(contributing_partitions.size()) / static_cast<double>(all);
  }
};

// `result` is set on success only; `report` always, as far as known.
Status Aggregate(ClientSession& session, const AggregationRequest& request, Data* result,
                 AggregationReport* report);

}  // namespace neptune
