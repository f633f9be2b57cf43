#include "index/tier/detail_reduce.h"

#include "index/tier/explain.pb.h"
#include "index/tier/explain_operators.h"
#include "index/tier/facet.pb.h"
#include "index/tier/facet_operators.h"
#include "index/tier/tier_service.h"
#include "index/tier/title_operators.h"
#include "index/tier/titles.pb.h"

namespace search::index {
namespace {

using neptune::Data;

template <typename Answer, Answer (*kMerge)(const Answer& a, const Answer& b)>
neptune::Status Reduce(const Data& first, const Data& second, const Data&, Data* result) {
  NEPTUNE_ASSIGN_OR_RETURN(const Answer* const a, first.As<Answer>());
  NEPTUNE_ASSIGN_OR_RETURN(const Answer* const b, second.As<Answer>());
  *result = Data::Of(kMerge(*a, *b));
  return neptune::OkStatus();
}

}  // namespace

void RegisterDetailReduceOperators(neptune::ServiceRegistrar& registrar) {
  registrar.Reduce(neptune::MethodName(kExplainReduceOperator),
                   Reduce<ExplainAnswer, MergeExplainAnswers>);
  registrar.Reduce(neptune::MethodName(kFacetReduceOperator),
                   Reduce<FacetAnswer, MergeFacetAnswers>);
  registrar.Reduce(neptune::MethodName(kTitlesReduceOperator),
                   Reduce<TitlesAnswer, MergeTitlesAnswers>);
}

}  // namespace search::index
