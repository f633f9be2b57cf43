// The join of operators.h as the registered reduce operator search.MergeTierAnswers, for every node
// that aggregates a tier: those that host it, and the frontends.
//
// Source: [Chu03] figure 5.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT for data that are not the messages.

#pragma once

#include "neptune/service/service_module.h"

namespace search::index {

// Its parameters are the query, which determines the number of hits.
void RegisterTierReduceOperator(neptune::ServiceRegistrar& registrar);

}  // namespace search::index
