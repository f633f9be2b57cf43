// Puts the documents of a segment into an order in which similar ones stand together.
//
// Source: index/core/reordering. Reads a mapped segment, writes files; no
//   clock.
// Threads: up to thread_count inside the call.
// Errors: RESOURCE_EXHAUSTED if the order cannot be found in memory_size_max; those of reading and
//   writing segments. After an error the segment is as it was.
// Limits: memory_size_max while the order is found; while the segment is written, the largest posting
//   list decoded beside what SegmentWriter needs.

#pragma once

#include <cstddef>
#include <string>

#include "index/core/builder/segment_summary.h"
#include "index/core/reordering/graph_bisection.h"
#include "neptune/base/status.h"

namespace search::index {

struct SegmentReorderOptions {
  ReorderOptions order = {};
  // Memory for finding the order; where it is short, the rarest terms are not looked at. Default: 100
  // million postings.
  size_t memory_size_max = size_t{1} << 30;
};

// Replaces `directory`/segment. Its doc_ids, postings and scores stay; ordinals change. The same
// segment and options give the same bytes, whatever the number of threads.
neptune::StatusOr<SegmentSummary> ReorderSegment(const std::string& directory,
                                                 const SegmentReorderOptions& options = {});

}  // namespace search::index
