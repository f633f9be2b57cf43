// Data aggregation call: runs a local operator on every partition and reduces the results to one.
//
//   AggregationRequest request{.service = ServiceName("index"), .partitions = {...},
//                              .local = MethodName("Search"), .reduce = MethodName("Merge"), ...};
//   Data result;
//   AggregationReport report;
//   Status status = Aggregate(session, request, &result, &report);
//
// Succeeds if at least the guaranteed share of the partitions contributed by the deadline; the report
// names who contributed and, for each partition that did not, why. A call that can no longer keep its
// guarantee is given up at once, and its work cancelled. The result is that of a sequential fold over
// the contributors in some order: the reduce operator is commutative and associative.
//
// Source: [Chu03] 3.2-3.3, figures 4 and 5.
// Departs from source: one result and one report instead of output parameters; reasons for what is missing.
// Threads: on a user-level thread, which parks until the end.
// Units: the deadline is a TimePoint and soft: what is not there by then is left out, and the call ends at
//   most AggregatorOptions::answer_grace later.
// Errors: kInvalidArgument a guarantee outside (0, 1] or a deadline that has passed; kNotFound the reduce
//   operator is not registered on a node that reduces; kCancelled the node stops, or the session's own caller is
//   gone; kUnavailable fewer than the guaranteed share contributed (the message counts them; the report has the
//   reasons); an error of the reduce operator.
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
  // Whose results are wanted; duplicates count once. Empty: success with an empty result.
  std::vector<PartitionId> partitions;
  MethodName local;   // operator that runs on each partition, a read
  MethodName reduce;  // operator that combines two results
  Data local_parameters;
  Data reduce_parameters;
  // Least share of the partitions that must contribute, in (0, 1].
  double aggregation_quality_min = 1.0;
  // Default: the session's timeout from now.
  TimePoint deadline = kNever;
  // Who reduces what. Absent: the service's scheme in the cluster spec.
  std::optional<TreeScheme> scheme{};
  // Default: staged, with stages as long as calls like this one have been best with.
  TimeoutPolicy timeouts = TimeoutPolicy::kLearned;
  // How servers are told of their tasks. Absent: AggregatorOptions::dissemination.
  std::optional<DisseminationMode> dissemination{};
  // The paper's baseline without events: a thread waits for its children. For experiments only.
  bool blocking = false;
  // A baseline without cancellation: what was begun goes on, whether or not its result is still wanted. For
  // experiments only.
  bool uncancelled = false;
};

// One server of the call's tree.
struct AggregationServer {
  NodeId node;
  int parent = -1;  // index of the server that its answer went to; -1: to the caller
  std::vector<PartitionId> partitions;
  Duration estimated_load{0};          // by which the tree was formed
  std::optional<MemberRecord> record;  // absent: it did not answer
};

struct AggregationReport {
  std::vector<PartitionId> contributing_partitions;  // ascending
  std::vector<MissingPartition> missing;             // ascending
  // Whose server told the local operator to stop since it has no more time for one, ascending. A partition that
  // contributed all the same gave what there was by then; one that is missing had nothing.
  std::vector<PartitionId> ended_early;
  TreeScheme scheme = TreeScheme::kLoadAdaptive;
  std::vector<AggregationServer>
      servers;  // parents before children; without those asked in place of lost ones
  Duration duration{0};
  // Of the duration, at the caller: until the first task left, polls waited for included; in its own reductions.
  Duration forming{0};
  Duration reducing{0};
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

// The same for results that are streams: the local operator is a stream method, the reduce operator one that
// reduces streams (ServiceRegistrar::ReduceStream). `take` gets the messages of the result as they come, on the
// calling thread; an error of it ends the call and is returned. Whether enough contributed is known at the end
// only: what a stream sent before it broke off stays in the result, and its partitions are missing.
// There is no blocking variant, and tasks are forwarded.
Status AggregateStream(ClientSession& session, const AggregationRequest& request,
                       const std::function<Status(const Data& message)>& take,
                       AggregationReport* report);

}  // namespace neptune
