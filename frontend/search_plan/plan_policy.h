// The decisions of the search plan: when tier 2 is asked, how tiers are joined, what is cached.
//
// No I/O, no clock, no threads.
// Threads: pure functions.
// Shapes: hits best first, at most index::kTierHitCountMax.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/answer.h"
#include "frontend/search_plan/plan_options.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/status.h"

namespace search::frontend {

// Results [start, start + count) of the best ones.
struct PageWindow {
  uint32_t start = 0;
  uint32_t count = 10;
};

// The page as far as it can be reached: `count` is shortened.
// Errors: INVALID_ARGUMENT "parameter start: ..." if nothing of it can.
neptune::StatusOr<PageWindow> ReachablePage(uint32_t start, uint32_t count);

// What the tiers are asked for that page. The number of hits depends on the page only beyond
// tier1_good_hits_min, so that every page of a query comes to the same decision on tier 2.
// Of which version of the index is the caller's to say.
index::TierQuery MakeTierQuery(std::string_view canonical, const PageWindow& page,
                               const SearchPlanOptions& options);

enum class Tier2Need {
  kNone,
  kTier1Failed,   // fewer than the guaranteed partitions of tier 1 answered
  kFewGoodHits,   // tier 1 has too few good answers
  kPageIsBeyond,  // enough for the first pages, but this one is behind tier 1's last hit
};

// `tier1` is null if tier 1 failed.
Tier2Need DecideTier2(const index::TierAnswer* tier1, const PageWindow& page,
                      const SearchPlanOptions& options);

// The hits of both tiers in one order that all pages of the query share. Where tier 1 alone was
// enough for the first pages its hits stay in front; otherwise the tiers are ranked together.
index::TierAnswer JoinTiers(const index::TierAnswer& tier1, const index::TierAnswer& tier2,
                            Tier2Need need, uint32_t hit_count_max);

// Positions in `doc_ids` by the document partition that holds them.
std::map<uint32_t, std::vector<size_t>> GroupByPartition(const std::vector<uint64_t>& doc_ids,
                                                         uint32_t partition_count);

// Names one page of one query, whatever the words were typed like and whatever format is wanted.
// Includes the version of the stored form. The index version goes beside it.
std::string CacheKey(std::string_view canonical, const PageWindow& page);

// Whether another spelling is looked for: on the first page of a query that finds `total`, which is
// little. Asked when tier 1 has answered, so that it is looked for while tier 2 searches, and again of
// the whole answer.
bool NeedsSpelling(const SearchAnswer& answer, uint64_t total, const SearchPlanOptions& options);

// Only what misses nothing may be given to others.
bool MayCache(const SearchAnswer& answer);

// Why a partition did not contribute, in words for users.
std::string MissingReason(const neptune::Status& status);
// That of a partition that the service gave no more time.
inline constexpr std::string_view kEndedEarlyReason = "ended early";

// The error of a search to which no index partition contributed, from what was missing: always
// UNAVAILABLE or, if all who answered were overloaded, RESOURCE_EXHAUSTED.
neptune::Status NothingAnswered(const Coverage& coverage);

// MissingReason of RESOURCE_EXHAUSTED.
inline constexpr std::string_view kOverloadedReason = "overloaded";

}  // namespace search::frontend
