// Computes an answer with a foreign engine: scores, the best hits, both ranking phases and all
// flags.
//
// Threads: pure except for the searcher.
// Errors: those of the searcher; DATA_LOSS for a match outside the partition's documents.

#pragma once

#include <functional>

#include "index/core/query/query.h"
#include "index/tier/engine_kit/engine.h"
#include "index/tier/engine_kit/engine_partition.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/status.h"

namespace search::index {

// REQUIRES: a valid query whose text parses to `query`. `stop` may be empty.
neptune::StatusOr<TierAnswer> AnswerByEngine(const EnginePartition& partition,
                                             const TierQuery& tier_query, const Query& query,
                                             const std::function<bool()>& stop,
                                             EngineSearcher* searcher);

}  // namespace search::index
