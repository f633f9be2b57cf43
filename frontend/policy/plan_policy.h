// Decisions of the search plan: when tier 2 is asked, and what is cached.
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

#include "frontend/model/answer.h"
#include "frontend/policy/page_window.h"
#include "frontend/policy/plan_options.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/status.h"

namespace search::frontend {

// The reachable part of the page; `count` is reduced if necessary.
// Errors: INVALID_ARGUMENT "parameter start: ..." if no result of the page is reachable.
neptune::StatusOr<PageWindow> ReachablePage(uint32_t start, uint32_t count);

// Ranked results that the page may cover, from its start: more than its count if it folds and is
// the first.
uint32_t CandidateCount(const PageWindow& page);

// The query to the tiers for that page. The caller sets the version of the index.
index::TierQuery MakeTierQuery(std::string_view canonical, const PageWindow& page,
                               const SearchPlanOptions& options);

enum class Tier2Need {
  kNone,
  kTier1Failed,   // fewer than the guaranteed partitions of tier 1 answered
  kMayEnterPage,  // a document of tier 2 may belong on the page
  kNoBounds,      // tier 1 does not know what tier 2 can reach
  kAlways,        // by the policy
};

// `tier1` is null if tier 1 failed. `sure_share`: of the page, SurePageShare.
Tier2Need DecideTier2(const index::TierAnswer* tier1, bool has_bounds, double sure_share,
                      const SearchPlanOptions& options);

// Groups the positions in `doc_ids` by document partition.
std::map<uint32_t, std::vector<size_t>> GroupByPartition(const std::vector<uint64_t>& doc_ids,
                                                         uint32_t partition_count);

// Cache key of one page of one query, independent of how the words were typed and of the format.
// Includes the version of the stored form. The index version is a separate part of the key.
// `variant` tells pages of one query apart: letters, empty for the usual one. `asked_version`: the
// version of the index, if searches ask for one by its number; answers of several versions are then
// kept beside each other, and a switch finds those that were computed before it. 0: the newest
// replaces the others.
std::string CacheKey(std::string_view canonical, const PageWindow& page,
                     std::string_view variant = {}, uint64_t asked_version = 0);

// What stands for the cache key if questions are hidden: a code of it under the secret, which is
// empty or common to the frontends that share answers.
// Source: RFC 2104, with SHA-256.
std::string HiddenCacheKey(std::string_view key, std::string_view secret);

// True if everything that was asked for is there: documents, counts, another spelling.
bool IsWhole(const SearchAnswer& answer);

// How long the answer may be used after it was computed: cache_time_to_live if it is whole; less if
// it has no results, or lacks partitions or summaries; 0 if it must not be cached.
neptune::Duration CacheLife(const SearchAnswer& answer, const SearchPlanOptions& options);

// Human-readable reason why a partition did not contribute.
std::string MissingReason(const neptune::Status& status);
// Reason for a partition that the service ended early.
inline constexpr std::string_view kEndedEarlyReason = "ended early";

// The error of a search to which no index partition contributed: RESOURCE_EXHAUSTED if all
// partitions were overloaded, else UNAVAILABLE.
neptune::Status NothingAnswered(const Coverage& coverage);

// Result of MissingReason for RESOURCE_EXHAUSTED.
inline constexpr std::string_view kOverloadedReason = "overloaded";

}  // namespace search::frontend
