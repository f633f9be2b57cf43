// Rates documents by the second ranking phase, from a search's postings.
//
// Source: index/core/rerank/second_phase.h.
// Layer: index/tier/rocksdb_postings. Threads: pure function over immutable parts.
// Errors: DATA_LOSS damage.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/rerank/second_phase.h"
#include "index/tier/rocksdb_postings/query_evaluation.h"
#include "neptune/base/status.h"

namespace search::index::rocksdb_postings {

// The gain of each document; nothing if `stop`, which may be empty and is asked for each of them, said
// so before the last. REQUIRES: ordinals ascend and are of documents in `space`.
neptune::StatusOr<std::optional<std::vector<Gain>>> RatePlaces(
    const Query& query, const SearchSpace& space, const std::vector<uint32_t>& ordinals,
    const std::function<bool()>& stop);

}  // namespace search::index::rocksdb_postings
