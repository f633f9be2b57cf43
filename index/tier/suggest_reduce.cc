#include "index/tier/suggest_reduce.h"

#include "index/tier/suggest.pb.h"
#include "index/tier/suggest_operators.h"
#include "index/tier/tier_service.h"

namespace search::index {
namespace {

using neptune::Data;
using neptune::Status;

Status ReduceSuggestions(const Data& first, const Data& second, const Data& parameters,
                         Data* result) {
  NEPTUNE_ASSIGN_OR_RETURN(const SuggestAnswer* const a, first.As<SuggestAnswer>());
  NEPTUNE_ASSIGN_OR_RETURN(const SuggestAnswer* const b, second.As<SuggestAnswer>());
  NEPTUNE_ASSIGN_OR_RETURN(const SuggestQuery* const query, parameters.As<SuggestQuery>());
  *result = Data::Of(MergeSuggestAnswers(*a, *b, query->count_max()));
  return neptune::OkStatus();
}

Status ReduceCounts(const Data& first, const Data& second, const Data&, Data* result) {
  NEPTUNE_ASSIGN_OR_RETURN(const CountAnswer* const a, first.As<CountAnswer>());
  NEPTUNE_ASSIGN_OR_RETURN(const CountAnswer* const b, second.As<CountAnswer>());
  *result = Data::Of(MergeCountAnswers(*a, *b));
  return neptune::OkStatus();
}

}  // namespace

void RegisterSuggestReduceOperators(neptune::ServiceRegistrar& registrar) {
  registrar.Reduce(neptune::MethodName(kSuggestReduceOperator), ReduceSuggestions);
  registrar.Reduce(neptune::MethodName(kCountReduceOperator), ReduceCounts);
}

}  // namespace search::index
