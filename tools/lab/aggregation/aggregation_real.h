// The clusters of aggregation_run.h in the real world, under the same load.
//
// Each node has a world of its own in this process: kernel threads, sockets on loopback, and
// emulated processors, so that a whole cluster fits on one machine.
//
// Source: [Chu03] 5.6 (experiments compared with simulations).
// Threads: the calling thread blocks; one such run at a time per machine.
// Units: real seconds.
// Errors: kInternal a node did not start, or the nodes did not find each other.
// Limits: about 30 nodes.

#pragma once

#include "neptune/base/status.h"
#include "tools/lab/aggregation/aggregation_run.h"

namespace search::lab {

// Uses the options that the real world does not determine: nodes, partitions, numbers of
// processors, queues.
neptune::StatusOr<AggregationRunResult> RunRealAggregations(
    const AggregationClusterOptions& cluster, const AggregationLoadOptions& load, uint64_t seed);

}  // namespace search::lab
