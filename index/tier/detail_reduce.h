// The joins of explain_operators.h, facet_operators.h and title_operators.h as registered reduce
// operators, for the tier's and the frontend's modules.
//
// Source: [Chu03] figure 5.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT for data that are not the messages.

#pragma once

#include "neptune/service/service_module.h"

namespace search::index {

// Registers search.MergeExplainAnswers, search.MergeFacetAnswers and search.MergeTitlesAnswers.
void RegisterDetailReduceOperators(neptune::ServiceRegistrar& registrar);

}  // namespace search::index
