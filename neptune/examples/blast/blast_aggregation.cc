#include "neptune/examples/blast/blast_aggregation.h"

#include "neptune/examples/blast/blast_hits.h"
#include "neptune/examples/blast/blast_module.h"

namespace neptune::examples {
namespace {

const char kReduce[] = "MergeBlastHits";

Status Reduce(const Data& first, const Data& second, const Data& parameters, Data* result) {
  NEPTUNE_ASSIGN_OR_RETURN(const BlastHits* const a, first.As<BlastHits>());
  NEPTUNE_ASSIGN_OR_RETURN(const BlastHits* const b, second.As<BlastHits>());
  NEPTUNE_ASSIGN_OR_RETURN(const BlastQuery* const query, parameters.As<BlastQuery>());
  *result = Data::Of(MergeBlastHits(*a, *b, query->hit_count_max()));
  return OkStatus();
}

}  // namespace

void RegisterBlastReduce(ModuleContext& context) {
  context.registrar.Reduce(MethodName(kReduce), {.grain = Grain::kLong}, Reduce);
}

AggregationRequest BlastAggregation(const ServiceName& service, uint32_t partition_count,
                                    const BlastQuery& query, TimePoint deadline) {
  AggregationRequest aggregation;
  aggregation.service = service;
  for (uint32_t p = 0; p < partition_count; ++p) aggregation.partitions.emplace_back(p);
  aggregation.local = MethodName(kBlastMethod);
  aggregation.reduce = MethodName(kReduce);
  aggregation.local_parameters = Data::Of(query);
  aggregation.reduce_parameters = Data::Of(query);
  aggregation.deadline = deadline;
  return aggregation;
}

}  // namespace neptune::examples
