#include "index/tier/tier_reduce.h"

#include "index/tier/operators.h"
#include "index/tier/tier.pb.h"
#include "index/tier/tier_service.h"

namespace search::index {
namespace {

using neptune::Data;
using neptune::Status;

Status Reduce(const Data& first, const Data& second, const Data& parameters, Data* result) {
  NEPTUNE_ASSIGN_OR_RETURN(const TierAnswer* const a, first.As<TierAnswer>());
  NEPTUNE_ASSIGN_OR_RETURN(const TierAnswer* const b, second.As<TierAnswer>());
  NEPTUNE_ASSIGN_OR_RETURN(const TierQuery* const query, parameters.As<TierQuery>());
  *result = Data::Of(MergeTierAnswers(*a, *b, query->hit_count_max()));
  return neptune::OkStatus();
}

}  // namespace

void RegisterTierReduceOperator(neptune::ServiceRegistrar& registrar) {
  registrar.Reduce(neptune::MethodName(kTierReduceOperator), Reduce);
}

}  // namespace search::index
