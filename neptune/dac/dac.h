// Data aggregation call: runs a local operator on every partition and reduces the results to one.
//
//   AggregationRequest request{.service = ServiceName("index"), .partitions = {...},
//                              .local = MethodName("Search"), .reduce = MethodName("Merge"), ...};
//   Data result;
//   AggregationReport report;
//   Status status = Aggregate(session, request, &result, &report);
//
// The call succeeds if at least the guaranteed share of the partitions contributed by the deadline.
// The report names the contributors and, for each missing partition, the reason. A call that can no
// longer meet its guarantee fails at once, and its work is cancelled. The result equals a
// sequential fold over the contributors in some order, because the reduce operator is commutative
// and associative.
//
// Source: [Chu03] 3.2-3.3, figures 4 and 5.
// Departs from source: one result and one report instead of output parameters; the report has the
//   reasons for missing partitions.
// Threads: runs on a user-level thread, which it parks until the end.
// Units: the deadline is a TimePoint and soft: results that arrive later are left out, and the call
//   ends at most AggregatorOptions::answer_grace after it.
// Errors: kInvalidArgument a guarantee outside (0, 1] or a deadline that has passed; kNotFound the
//   reduce operator is not registered on a node that reduces; kCancelled the node stops, or the
//   session's own caller is gone; kUnavailable fewer partitions than guaranteed contributed (the
//   message has the counts, the report the reasons); an error of the reduce operator.
// Limits: kAggregationPartitionsMax partitions.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "neptune/dac/aggregation_message.h"
#include "neptune/dac/reduction_tree.h"
#include "neptune/dac/stage_deadlines.h"
#include "neptune/service/client.h"

namespace neptune {

struct AggregationRequest {
  ServiceName service;
  // Partitions to aggregate; duplicates count once. Empty: success with an empty result.
  std::vector<PartitionId> partitions;
  MethodName local;   // operator that runs on each partition; must be a read
  MethodName reduce;  // operator that combines two results
  Data local_parameters;
  Data reduce_parameters;
  // Minimum share of the partitions that must contribute, in (0, 1].
  double aggregation_quality_min = 1.0;
  // Default: the session's timeout from now.
  TimePoint deadline = kNever;
  // Shape of the reduction tree. Unset: the service's scheme in the cluster spec.
  std::optional<TreeScheme> scheme{};
  // Default: staged, with the stage length that gave the best quality to similar calls.
  TimeoutPolicy timeouts = TimeoutPolicy::kLearned;
  // How tasks are sent to the servers. Default: README.md has the measurement.
  DisseminationMode dissemination = DisseminationMode::kForward;
};

// One server of the call's tree.
struct AggregationServer {
  NodeId node;
  int parent = -1;  // index of the server that received its answer; -1: the caller
  std::vector<PartitionId> partitions;
  Duration estimated_load{0};          // estimate used to form the tree
  std::optional<MemberRecord> record;  // unset: the server did not answer
};

struct AggregationReport {
  std::vector<PartitionId> contributing_partitions;  // ascending
  std::vector<MissingPartition> missing;             // ascending
  // Partitions whose local operator was cut short by its server's time limit, ascending. Those
  // among the contributors contributed a partial result.
  std::vector<PartitionId> ended_early;
  TreeScheme scheme = TreeScheme::kLoadAdaptive;
  std::vector<AggregationServer>
      servers;  // parents before children; without replacements of lost servers
  Duration duration{0};
  // Parts of `duration` at the caller: until the first task was sent, including the wait for polls;
  // and in its own reductions.
  Duration forming{0};
  Duration reducing{0};
  // Maximum over the contributing servers' measurements.
  Duration queue_time_max{0};
  Duration run_time_max{0};
  double quality() const {
    const size_t all = contributing_partitions.size() + missing.size();
    return all == 0
               ? 1.0
               : static_cast<double>(contributing_partitions.size()) / static_cast<double>(all);
  }
};

// Runs an aggregation. `result` is set on success only; `report` is always set, as far as known.
Status Aggregate(ClientSession& session, const AggregationRequest& request, Data* result,
                 AggregationReport* report);

// The same for results that are streams: the local operator is a stream method, the reduce operator
// one that reduces streams (ServiceRegistrar::ReduceStream). `take` receives the messages of the
// result as they arrive, on the calling thread; if it returns an error, the call ends with that
// error. Whether enough partitions contributed is known at the end only: messages that a stream
// sent before it broke off stay in the result, and its partitions are reported missing. Tasks are
// always forwarded.
Status AggregateStream(ClientSession& session, const AggregationRequest& request,
                       const std::function<Status(const Data& message)>& take,
                       AggregationReport* report);

}  // namespace neptune
