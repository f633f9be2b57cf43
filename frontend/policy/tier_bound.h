// What tier 2 can reach for a query, and which results of a page it can therefore change.
//
// A document of tier 2 is bounded by the sum of what its words can add, each at most what the best
// document of tier 2 for that word reaches, the best static rank of tier 2, and the most that the
// second ranking phase can add. If that is below the last result of the page, and tier 2 cannot
// take the second phase from a result before it, then the page is the one of a single index.
//
// Source: correctness guarantees of tiered indexes [Ntoulas07]; bounds by words [Turtle95].
// Departs from source: the second phase is bounded too, by the weights of index/core/rerank.
// No I/O, no clock.
// Threads: pure functions.
// Units: scores as index::FinalScore; every bound is rounded up.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "frontend/policy/page_window.h"
#include "index/core/query/query.h"
#include "index/tier/tier.pb.h"

namespace search::frontend {

// Upper bounds over the documents of tier 2 that match the query.
struct TierBound {
  float first_score = 0;
  float final_score = 0;
  uint64_t document_count = 0;  // number of matching documents; 0: none matches
};

// What a bound needs to know of a query.
struct BoundedQuery {
  // Words that every matching document holds, by the index of the query's scoring words.
  std::vector<bool> demanded;
  // True if bounds of words bound the query: every matching document holds one of its words, and
  // none stands for words that tier 1 may not know, as a prefix does.
  bool is_bounded = true;
};
BoundedQuery BoundedQueryOf(const index::Query& query);

// From the bounds that tier 1 answered; nullopt if it knows none, or not of every word, or the
// query is not bounded by its words. A word that no document of tier 1 holds is unknown.
std::optional<TierBound> BoundOfTier2(const index::OtherTierBounds& bounds,
                                      const BoundedQuery& query);

// Number of the first hits of tier 1, from its best, that tier 2 can neither displace nor reorder.
// Tier 2 enters only with a higher score: an equal one counts as displacing.
// `tier1`: as MergeTierAnswers yields.
uint32_t SureHits(const index::TierAnswer& tier1, const TierBound& tier2);

// Share of the page's results that are sure, 0 to 1. A page that tier 1 does not fill is sure in
// whole if no document of tier 2 matches.
double SurePageShare(const index::TierAnswer& tier1, const std::optional<TierBound>& tier2,
                     const PageWindow& page);

}  // namespace search::frontend
