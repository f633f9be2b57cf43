// Reorders the documents of a segment so that similar ones are adjacent.
//
// Source: index/core/reordering.
// Reads a mapped segment, writes files; no clock.
// Threads: up to thread_count inside the call.
// Errors: RESOURCE_EXHAUSTED if the order cannot be computed in memory_size_max; those of reading
//   and writing segments. After an error the segment is unchanged.
// Limits: memory_size_max while the order is computed; while the segment is written, the largest
//   posting list, decoded, in addition to SegmentWriter's memory.

#pragma once

#include <cstddef>
#include <string>

#include "index/core/builder/segment_summary.h"
#include "index/core/reordering/graph_bisection.h"
#include "neptune/base/status.h"

namespace search::index {

struct SegmentReorderOptions {
  ReorderOptions order = {};
  // Memory for computing the order; if it is too little, the rarest terms are ignored. Default:
  // enough for 100 million postings.
  size_t memory_size_max = size_t{1} << 30;
};

// Replaces `directory`/segment. doc_ids, postings and scores stay the same; ordinals change. The
// same segment and options give the same bytes, whatever the number of threads.
neptune::StatusOr<SegmentSummary> ReorderSegment(const std::string& directory,
                                                 const SegmentReorderOptions& options = {});

}  // namespace search::index
