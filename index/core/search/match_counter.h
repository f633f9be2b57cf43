// Counts the documents that a query matches, without scores: the plan beside ranking.
//
// Source: unions as bit sets over windows of documents, as counting engines do; all else document
//   by document.
// Threads: pure function over its evaluation.

#pragma once

#include <cstdint>

#include "index/core/search/evaluation.h"
#include "index/core/search/query_plan.h"

namespace search::index {

// Exact, unless the evaluation was stopped: then of the documents that it came to.
uint64_t CountMatches(const PlanNode& root, Evaluation* evaluation);

}  // namespace search::index
