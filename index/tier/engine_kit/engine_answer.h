// A question answered by a foreign engine: scores, the best, both ranking phases, all that an answer says.
//
// Threads: pure but for the searcher.
// Errors: those of the searcher; DATA_LOSS for a match that is no document of the partition.

#pragma once

#include <functional>

#include "index/core/query/query.h"
#include "index/tier/engine_kit/engine.h"
#include "index/tier/engine_kit/engine_partition.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/status.h"

namespace search::index {

// REQUIRES: a valid question whose text means `query`. `stop` may be empty.
neptune::StatusOr<TierAnswer> AnswerByEngine(const EnginePartition& partition,
                                             const TierQuery& question, const Query& query,
                                             const std::function<bool()>& stop,
                                             EngineSearcher* searcher);

}  // namespace search::index
