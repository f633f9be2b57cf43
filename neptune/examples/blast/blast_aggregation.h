// The reduce operator of BLAST, and its aggregation request.
//
//   MergeBlastHits   keeps the best hits of two BlastHits; its parameter is the BlastQuery
//
// Source: [Chu03] 5.1, 5.2.
// Threads: see neptune/dac/dac.h.

#pragma once

#include "neptune/base/time.h"
#include "neptune/dac/dac.h"
#include "neptune/examples/blast/blast.pb.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

// Call it on every node that aggregates: those of the service and those of its callers.
void RegisterBlastReduce(ModuleContext& context);

// Searches partitions 0 to partition_count - 1 of `service`; the result is BlastHits.
AggregationRequest BlastAggregation(const ServiceName& service, uint32_t partition_count,
                                    const BlastQuery& query, TimePoint deadline);

}  // namespace neptune::examples
