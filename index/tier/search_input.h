// The common preparation of a search in every tier: parses the query, combines the stop conditions,
// runs the read.
//
// Threads: thread-safe.
// Errors: INVALID_ARGUMENT for text over a limit of the query language.

#pragma once

#include <functional>
#include <memory>

#include "index/core/query/query.h"
#include "index/tier/index_tier.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/status.h"

namespace search::index {

// Parses the query's canonical text, unless this kernel thread has done so a moment ago
// (index/core/query/recent_queries.h).
neptune::StatusOr<std::shared_ptr<const Query>> ReadTierQuery(const TierQuery& query);

// Errors: INVALID_ARGUMENT for a query with a prefix, NEAR or a filter by a declared field, and for
// the order by date: only the index core has these.
neptune::Status CheckForEngine(const TierQuery& tier_query, const Query& query);

// True once the deadline has passed or the caller's stop returns true; empty if neither can happen.
// The function refers to `control`, which must outlive it.
std::function<bool()> StopFunction(const TierSearchControl& control);

// For tiers that evaluate a whole search within TierSearchControl::read: checks and parses the
// query, runs `evaluate` there, and returns its result. `evaluate` must own what it uses (see
// TierSearchControl::read); its `stop` may be empty.
using Evaluate = std::function<neptune::StatusOr<TierAnswer>(
    const TierQuery& tier_query, const Query& query, const std::function<bool()>& stop)>;
neptune::StatusOr<TierAnswer> SearchWithinRead(const TierQuery& tier_query,
                                               const TierSearchControl& control, Evaluate evaluate);

// Runs `read` through `control`. OK: it has run.
neptune::Status ReadStore(const TierSearchControl& control, std::function<void()> read);

}  // namespace search::index
