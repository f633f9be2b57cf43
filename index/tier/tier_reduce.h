// The merge of operators.h as the registered reduce operator search.MergeTierAnswers, for every
// node that aggregates a tier: tier nodes and frontends.
//
// Source: [Chu03] figure 5.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT for data that are not the messages.

#pragma once

#include "neptune/service/service_module.h"

namespace search::index {

// The operator's parameter is the query, which limits the number of hits.
void RegisterTierReduceOperator(neptune::ServiceRegistrar& registrar);

}  // namespace search::index
