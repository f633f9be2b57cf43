// The operators of the aggregation call that counts the matching documents by site: count those of
// a partition, merge two answers.
//
// Source: [Chu03] figures 4 and 5 (local and reduce operator).
// Pure functions.
// Threads: thread-safe as the tier is.
// Errors: FacetOperator: INVALID_ARGUMENT for a query that does not parse or is over a limit;
//   DATA_LOSS. Running out of time is not an error (FacetAnswer::is_complete).
// Limits: kFacetValuesMax values of a partition; a merge has at most those of all partitions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "index/tier/facet.pb.h"
#include "index/tier/index_tier.h"
#include "neptune/base/status.h"

namespace search::index {

// Larger: exact counts for collections of more sites, larger messages (about 30 bytes a value).
inline constexpr size_t kFacetValuesMax = 256;

neptune::StatusOr<FacetAnswer> FacetOperator(const IndexTier& tier, const FacetQuery& query,
                                             const TierSearchControl& control);

// Adds up the answers of disjoint sets of partitions. Commutative and associative.
FacetAnswer MergeFacetAnswers(const FacetAnswer& a, const FacetAnswer& b);

// Sets the values of a partition's answer: those with the most documents, equal ones by name.
void SetFacetValues(const std::map<std::string, uint64_t>& counts, FacetAnswer* answer);

}  // namespace search::index
