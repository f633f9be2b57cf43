// Exact counts of the documents that match a flat query, from bitmaps and filtered lists, without
// ranking.
//
// Threads: pure function apart from the evaluation.

#pragma once

#include <cstdint>
#include <optional>

#include "index/core/search/evaluation.h"
#include "index/core/search/flat_plan.h"

namespace search::index {

// Number of matching documents; nullopt if there is no fast way to count them, and MatchCounter has
// to. REQUIRES: no phrases.
std::optional<uint64_t> CountFlat(const FlatPlan& plan, Evaluation* evaluation);

}  // namespace search::index
