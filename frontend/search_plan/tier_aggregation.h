// The request that aggregates a search tier; its reduce operator is index/tier/tier_reduce.h.
//
// Source: [Chu03] 3.3, figures 4 and 5.
// Threads: pure functions.

#pragma once

#include <cstdint>
#include <string>

#include "index/tier/tier.pb.h"
#include "neptune/base/metrics.h"
#include "neptune/base/time.h"
#include "neptune/dac/dac.h"

namespace search::frontend {

// A tier as seen by a frontend.
struct TierTarget {
  std::string service;  // name to call
  std::string label;    // human-readable name
  uint32_t partition_count = 1;
};

struct TierTerms {
  neptune::TimePoint deadline = neptune::kNever;
  // Minimum fraction of the tier's partitions for its answer to be used.
  double quality_min = 0.01;
  // Counts searches whose partitions had more hits than their shares; may be null.
  neptune::Counter* asked_again = nullptr;
};

// The aggregation of one query over all partitions of the tier; its result is a TierAnswer.
neptune::AggregationRequest TierAggregation(const TierTarget& tier, const index::TierQuery& query,
                                            const TierTerms& terms);

}  // namespace search::frontend
