// The forward index of a segment, used to reorder its documents: the terms of each document.
//
// Reads the mapped segment.
// Threads: pure function.
// Errors: DATA_LOSS for damaged postings; RESOURCE_EXHAUSTED if not even the documents fit the
//   memory.
// Limits: memory_size_max for the index and the copy that reordering makes of it.

#pragma once

#include <cstddef>

#include "index/core/reordering/graph_bisection.h"
#include "index/core/segment/segment_reader.h"
#include "neptune/base/status.h"

namespace search::index {

// Terms are numbered by descending frequency. Terms of a single document are left out, because they
// carry no information about order; so are the rarest terms beyond `memory_size_max`.
neptune::StatusOr<ForwardIndex> MakeForwardIndex(const Segment& segment, size_t memory_size_max);

}  // namespace search::index
