// The reduce operator of MICRO, and its aggregation request.
//
//   ReduceMicro   uses processor time, adds two MicroResult; its parameter is the MicroRequest
//
// Source: [Chu03] 5.1, 5.2.
// Threads: see neptune/dac/dac.h.

#pragma once

#include "neptune/base/time.h"
#include "neptune/dac/dac.h"
#include "neptune/examples/micro/micro.pb.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

// Call it on every node that aggregates: those of the service and those of its callers.
void RegisterMicroReduce(ModuleContext& context);

// Aggregates over partitions 0 to partition_count - 1 of `service`; the caller sets all other
// options.
AggregationRequest MicroAggregation(const ServiceName& service, uint32_t partition_count,
                                    const MicroRequest& request, TimePoint deadline);

}  // namespace neptune::examples
