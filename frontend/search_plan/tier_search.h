// One question to all partitions of an index tier.
//
// Source: DAC paper 3.3; design 5 (partial answers are served and say so).
// Layer: frontend/search_plan, agent. Threads: on a user-level thread.

#pragma once

#include <cstdint>
#include <string>

#include "frontend/answer.h"
#include "frontend/search_plan/plan_options.h"
#include "index/tier/tier.pb.h"
#include "neptune/dac/dac.h"
#include "neptune/service/client.h"
#include "neptune/service/service_module.h"

namespace search::frontend {

// A tier as a frontend knows it.
struct TierTarget {
  std::string service;  // name to call
  std::string label;    // name for people
  uint32_t partition_count = 1;
};

// The merged answer of the partitions that answered in time; `coverage` is always filled in.
// Errors: INVALID_ARGUMENT if the tier did not answer and a partition refused the question, for
//   instance a phrase to an index without positions; those of Aggregate, for instance UNAVAILABLE
//   below options.quality_min.
neptune::StatusOr<index::TierAnswer> SearchTier(neptune::ClientSession& session,
                                                const TierTarget& tier,
                                                const index::TierQuery& query,
                                                const SearchPlanOptions& options,
                                                ServiceCoverage* coverage);

// The reduce operator of tier answers. The node that aggregates needs it, so a frontend registers
// it for itself: MethodName(index::kTierReduceOperator).
neptune::Status ReduceTierAnswers(const neptune::Data& first, const neptune::Data& second,
                                  const neptune::Data& parameters, neptune::Data* result);

}  // namespace search::frontend
