// What MICRO adds to be aggregated: the reduce operator, and the request for it.
//
//   ReduceMicro   uses processor time, adds two MicroResult; its parameter is the MicroRequest
//
// Source: [Chu03] 5.1, 5.2. Threads: as neptune/dac/dac.h says.

#pragma once

#include "neptune/base/time.h"
#include "neptune/dac/dac.h"
#include "neptune/examples/micro/micro.pb.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

// On every node that aggregates: those of the service and those that ask it.
void RegisterMicroReduce(ModuleContext& context);

// Asks partitions 0 to partition_count - 1 of `service`; whatever else an aggregation can be told is for the caller.
AggregationRequest MicroAggregation(const ServiceName& service, uint32_t partition_count,
                                    const MicroRequest& request, TimePoint deadline);

}  // namespace neptune::examples
