// The reduce operator of FACE, and its aggregation request.
//
//   MergeFaceMatches   keeps the nearest faces of two FaceMatches; its parameter is the FaceQuery
//                      without its picture
//
// Source: [Chu03] 5.1, 5.2.
// Threads: see neptune/dac/dac.h.

#pragma once

#include "neptune/base/time.h"
#include "neptune/dac/dac.h"
#include "neptune/examples/face/face.pb.h"
#include "neptune/service/service_module.h"

namespace neptune::examples {

// Call it on every node that aggregates: those of the service and those of its callers.
void RegisterFaceReduce(ModuleContext& context);

// Asks partitions 0 to partition_count - 1 of `service`; the result is FaceMatches.
AggregationRequest FaceAggregation(const ServiceName& service, uint32_t partition_count,
                                   const FaceQuery& query, TimePoint deadline);

}  // namespace neptune::examples
