// Merges segments into one, dropping their deleted documents.
//
// Reads mapped segments, writes files; no clock.
// Threads: thread-safe; any number of merges may run concurrently, each into a directory of its
//   own.
// Errors: INVALID_ARGUMENT for a doc_id that is live in two segments, for a mix of segments with
//   and without positions, and for live documents of another segment; RESOURCE_EXHAUSTED for more
//   than kSegmentDocumentsMax documents; DATA_LOSS for a damaged segment; UNAVAILABLE for file
//   system errors.
// Limits: memory is 20 bytes per document in addition to SegmentWriter's.
//
// The result is byte for byte the segment that a build from the live documents gives. Segments
// built from imported postings keep their length codes; their mean lengths change by the rounding
// of the codes.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/core/builder/segment_rewriter.h"
#include "index/core/builder/segment_summary.h"
#include "index/core/segment/live_documents.h"
#include "index/core/segment/section_file.h"
#include "index/core/segment/segment_reader.h"
#include "neptune/base/status.h"

namespace search::index {

struct MergeInput {
  const Segment* segment = nullptr;
  // nullptr: all live.
  const LiveDocuments* live = nullptr;
};

// Starts a merge that runs in steps: Begin orders the documents, Step and Finish are those of
// SegmentRewrite. The inputs must outlive the rewrite; their live documents need only outlive this
// call.
neptune::StatusOr<std::unique_ptr<SegmentRewrite>> BeginMerge(
    const std::vector<MergeInput>& inputs, const std::string& directory,
    Durability durability = Durability::kSynced);

// Writes `directory`/segment, with documents in ascending order of doc_id. Inputs may be in any
// order; without inputs the segment is empty. REQUIRES: `directory` is not an input's.
neptune::StatusOr<SegmentSummary> MergeSegments(const std::vector<MergeInput>& inputs,
                                                const std::string& directory);

}  // namespace search::index
