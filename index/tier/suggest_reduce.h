// The joins of suggest_operators.h as registered reduce operators, for the tier's and the
// frontend's modules.
//
// Source: [Chu03] figure 5.
// Threads: pure functions.
// Errors: INVALID_ARGUMENT for data that are not the messages.

#pragma once

#include "neptune/service/service_module.h"

namespace search::index {

// Registers search.MergeSuggestAnswers and search.MergeCountAnswers.
void RegisterSuggestReduceOperators(neptune::ServiceRegistrar& registrar);

}  // namespace search::index
