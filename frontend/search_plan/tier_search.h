// Sends one query to all partitions of an index tier. Partial answers are served and marked as
// such.
//
// Each partition is asked for its share of the best hits (frontend/policy/hit_share.h). If one has
// more, all are asked again for as many as the answer holds, so that hits never depend on shares.
//
// Source: [Chu03] 3.3.
// Threads: on a user-level thread.

#pragma once

#include "frontend/model/answer.h"
#include "frontend/search_plan/tier_aggregation.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/status.h"
#include "neptune/service/client.h"

namespace search::frontend {

// Returns the merged answer of the partitions that answered in time; `coverage` is always filled
// in. Without time left no partition is asked.
// Errors: INVALID_ARGUMENT the tier did not answer and a partition rejected the query, for instance
//   a phrase on an index without positions; those of Aggregate, for instance UNAVAILABLE below
//   quality_min.
neptune::StatusOr<index::TierAnswer> SearchTier(neptune::ClientSession& session,
                                                const TierTarget& tier,
                                                const index::TierQuery& query,
                                                const TierTerms& terms, ServiceCoverage* coverage);

}  // namespace search::frontend
