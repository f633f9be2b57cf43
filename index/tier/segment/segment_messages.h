// The index core's queries and answers as the tier's messages, for all variants that search its
// segments.
//
// Threads: pure functions, except OpenSuggestions.
// Errors: OpenSuggestions: those of SuggestionIndex::Open except NOT_FOUND.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "index/core/search/searcher.h"
#include "index/suggest/suggestion_index.h"
#include "index/tier/index_tier.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr char kSegmentTierName[] = "segment";

// The options refer to `control`, which must outlive them.
SearchOptions ToSearchOptions(const TierQuery& tier_query, const TierSearchControl& control);
// The answer of variant "segment".
TierAnswer ToAnswer(const SearchResult& result, uint64_t index_version);

// Null if the index was built without suggestions.
neptune::StatusOr<std::unique_ptr<SuggestionIndex>> OpenSuggestions(const std::string& directory);
SuggestAnswer Complete(const SuggestionIndex& suggestions, const SuggestQuery& query,
                       uint64_t index_version);
SpellAnswer FindSpellings(const SuggestionIndex& suggestions, const SpellQuery& query,
                          uint64_t index_version);

}  // namespace search::index
