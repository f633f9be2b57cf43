// One question to all partitions of an index tier.
//
// Source: [Chu03] 3.3; design 5 (partial answers are served and say so).
// Threads: on a user-level thread.

#pragma once

#include "frontend/answer.h"
#include "frontend/search_plan/plan_options.h"
#include "frontend/search_plan/tier_aggregation.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/status.h"
#include "neptune/service/client.h"

namespace search::frontend {

// The merged answer of the partitions that answered in time; `coverage` is always filled in.
// Errors: INVALID_ARGUMENT if the tier did not answer and a partition refused the question, for
//   instance a phrase to an index without positions; those of Aggregate, for instance UNAVAILABLE
//   below options.quality_min.
neptune::StatusOr<index::TierAnswer> SearchTier(neptune::ClientSession& session,
                                                const TierTarget& tier,
                                                const index::TierQuery& query,
                                                const SearchPlanOptions& options,
                                                ServiceCoverage* coverage);

}  // namespace search::frontend
