// Counts the documents that a query matches without computing scores.
//
// Source: unions as bit sets over windows of documents, as counting engines do; everything else is
//   counted document at a time.
// Threads: pure function over its evaluation.

#pragma once

#include <cstdint>

#include "index/core/search/evaluation.h"
#include "index/core/search/query_plan.h"

namespace search::index {

// The count is exact unless the evaluation was stopped; it then covers the documents visited so
// far.
uint64_t CountMatches(const PlanNode& root, Evaluation* evaluation);

}  // namespace search::index
