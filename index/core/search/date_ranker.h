// The newest documents that a query matches. Visits all matches: there are no bounds to prune by.
//
// Threads: pure function over immutable parts.
// Errors: damaged postings are reported by the evaluation.

#pragma once

#include <cstddef>

#include "index/core/search/date_column.h"
#include "index/core/search/evaluation.h"
#include "index/core/search/query_plan.h"
#include "index/core/search/search_result.h"

namespace search::index {

// Hits have their day as score, which is exact; documents without a date have 0 and come last.
// Equal days by ascending doc_id. The total is exact unless the evaluation was stopped.
SearchResult RankByDate(const PlanNode& root, const DateColumn& dates, size_t k,
                        Evaluation* evaluation);

}  // namespace search::index
