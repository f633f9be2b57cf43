// Reorders the documents of a segment so that similar documents are adjacent.
//
// Source: index/core/reordering.
// Reads a mapped segment, writes files; no clock.
// Threads: up to thread_count inside the call.
// Errors: RESOURCE_EXHAUSTED if memory_size_max does not suffice for finding the order; those of
//   reading and writing segments. After an error the segment is unchanged.
// Limits: memory_size_max while finding the order; while writing the segment, the largest decoded
//   posting list plus what SegmentWriter needs.

#pragma once

#include <cstddef>
#include <string>

#include "index/core/builder/segment_summary.h"
#include "index/core/reordering/graph_bisection.h"
#include "neptune/base/status.h"

namespace search::index {

struct SegmentReorderOptions {
  ReorderOptions order = {};
  // Memory for finding the order; if it does not suffice, the rarest terms are ignored. Default:
  // 100 million postings.
  size_t memory_size_max = size_t{1} << 30;
};

// Replaces `directory`/segment. doc_ids, postings and scores are kept; ordinals change. The same
// segment and options yield the same bytes for any number of threads.
neptune::StatusOr<SegmentSummary> ReorderSegment(const std::string& directory,
                                                 const SegmentReorderOptions& options = {});

}  // namespace search::index
