// The operators of the calls for suggestions, spelling and counts: answer a partition, merge two
// answers. Spellings are not merged: a partition with the dictionary answers for the collection.
//
// Source: [Chu03] figures 4 and 5 (local and reduce operator).
// Pure functions.
// Threads: thread-safe as the tier is.
// Errors of local operators: INVALID_ARGUMENT for a request outside the limits of suggest.proto;
// UNIMPLEMENTED for a tier without suggestions, or a partition without the dictionary.
//
// The merges are commutative and associative, so a tree of any shape yields the same bytes.

#pragma once

#include <cstdint>

#include "index/tier/index_tier.h"
#include "index/tier/suggest.pb.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr int kSuggestPrefixesMax = 8;
inline constexpr uint32_t kSuggestionsMax = 100;
inline constexpr int kCountedQueriesMax = 8;

neptune::StatusOr<SuggestAnswer> SuggestOperator(const IndexTier& tier, const SuggestQuery& query);
// The best `count_max` suggestions of both, ordered by prefix, then by IsBetterCompletion.
SuggestAnswer MergeSuggestAnswers(const SuggestAnswer& a, const SuggestAnswer& b,
                                  uint32_t count_max);

neptune::StatusOr<SpellAnswer> SpellOperator(const IndexTier& tier, const SpellQuery& query);

// Every tier supports this: it runs a search for each query.
neptune::StatusOr<CountAnswer> CountOperator(const IndexTier& tier, const CountQuery& query,
                                             const TierSearchControl& control);
CountAnswer MergeCountAnswers(const CountAnswer& a, const CountAnswer& b);

}  // namespace search::index
