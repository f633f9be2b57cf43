#include "frontend/search_plan/tier_aggregation.h"

#include "index/tier/tier_service.h"

namespace search::frontend {

using neptune::Data;
using neptune::MethodName;

neptune::AggregationRequest TierAggregation(const TierTarget& tier, const index::TierQuery& query,
                                            const TierTerms& terms) {
  neptune::AggregationRequest request;
  request.service = neptune::ServiceName(tier.service);
  for (uint32_t p = 0; p < tier.partition_count; ++p) request.partitions.emplace_back(p);
  request.local = MethodName(index::kTierSearchMethod);
  request.reduce = MethodName(index::kTierReduceOperator);
  request.local_parameters = Data::Of(query);
  request.reduce_parameters = request.local_parameters;
  request.aggregation_quality_min = terms.quality_min;
  request.deadline = terms.deadline;
  return request;
}

}  // namespace search::frontend
