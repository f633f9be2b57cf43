// The two operators of the aggregation call over an index tier: answer a partition, join two
// answers.
//
// Source: DAC paper, figures 4 and 5 (local and reduce operator).
// Departs from source: none.
// Layer: index/tier, policy. Pure functions.
// Threads: thread-safe as the tier is.
// Errors: LocalOperator: INVALID_ARGUMENT for a question outside the limits of index_tier.h.

#pragma once

#include <cstdint>

#include "index/tier/index_tier.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/status.h"

namespace search::index {

// OK if the question is within the limits of index_tier.h; does not parse the text.
neptune::Status ValidateTierQuery(const TierQuery& query);

// The answer of one partition; what it returns satisfies the limits that MergeTierAnswers keeps.
neptune::StatusOr<TierAnswer> LocalOperator(const IndexTier& tier, const TierQuery& query,
                                            const TierSearchControl& control);

// Joins the answers of disjoint sets of partitions: the best hit_count_max hits of both (equal
// scores by ascending doc_id, a score that is not a number last), totals added (saturating), flags
// true if both are, the smaller index_version, and the implementation if it is the same.
// Commutative and associative, so a tree of any shape gives the same bytes.
// O(n log n) in the number of hits; the order of the inputs' hits does not matter.
TierAnswer MergeTierAnswers(const TierAnswer& a, const TierAnswer& b, uint32_t hit_count_max);

}  // namespace search::index
