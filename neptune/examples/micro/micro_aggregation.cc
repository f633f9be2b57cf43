#include "neptune/examples/micro/micro_aggregation.h"

#include "neptune/examples/micro/micro_module.h"
#include "neptune/examples/micro/micro_work.h"
#include "neptune/thread/user_thread.h"

namespace neptune::examples {
namespace {

const char kReduce[] = "ReduceMicro";

Status Reduce(Processors& processors, const Data& first, const Data& second, const Data& parameters,
              Data* result) {
  NEPTUNE_ASSIGN_OR_RETURN(const MicroResult* const a, first.As<MicroResult>());
  NEPTUNE_ASSIGN_OR_RETURN(const MicroResult* const b, second.As<MicroResult>());
  NEPTUNE_ASSIGN_OR_RETURN(const MicroRequest* const request, parameters.As<MicroRequest>());
  const Duration time = MicroReduceTime(*request, TakenIn(*a, *b));
  this_thread::Consume(processors, time);
  *result = Data::Of(CombineMicroResults(*a, *b, time));
  return OkStatus();
}

}  // namespace

void RegisterMicroReduce(ModuleContext& context) {
  context.registrar.Reduce(MethodName(kReduce), {.grain = Grain::kLong},
                           [&world = context.world](const Data& first, const Data& second,
                                                    const Data& parameters, Data* result) {
                             return Reduce(world.processors(), first, second, parameters, result);
                           });
}

AggregationRequest MicroAggregation(const ServiceName& service, uint32_t partition_count,
                                    const MicroRequest& request, TimePoint deadline) {
  AggregationRequest aggregation;
  aggregation.service = service;
  for (uint32_t p = 0; p < partition_count; ++p) aggregation.partitions.emplace_back(p);
  aggregation.local = MethodName(kMicroMethod);
  aggregation.reduce = MethodName(kReduce);
  aggregation.local_parameters = Data::Of(request);
  aggregation.reduce_parameters = Data::Of(request);
  aggregation.deadline = deadline;
  return aggregation;
}

}  // namespace neptune::examples
