// Merges segments into one segment without their deleted documents.
//
// Reads mapped segments, writes files; no clock.
// Threads: pure except for files; any number of merges at once, each into its own folder.
// Errors: INVALID_ARGUMENT for a doc_id that lives in two segments, for segments with and without
//   positions together, and for live documents of another segment; RESOURCE_EXHAUSTED for more than
//   kSegmentDocumentsMax documents; DATA_LOSS for a damaged segment; UNAVAILABLE for the file
//   system.
// Limits: memory is 20 bytes per document in addition to SegmentWriter's.
//
// The result is byte for byte the segment that building from the live documents yields. Segments
// made from imported postings keep their length codes; their mean lengths change by the rounding of
// the codes.

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

// Merges piece by piece: Begin orders the documents, then Step and Finish work as SegmentRewrite's.
// The inputs must outlive the rewrite; their live documents need only outlive this call.
neptune::StatusOr<std::unique_ptr<SegmentRewrite>> BeginMerge(
    const std::vector<MergeInput>& inputs, const std::string& directory,
    Durability durability = Durability::kSynced);

// Writes `directory`/segment, with documents in ascending order of doc_id. Inputs come in any
// order; no inputs yield an empty segment. REQUIRES: `directory` is not an input's.
neptune::StatusOr<SegmentSummary> MergeSegments(const std::vector<MergeInput>& inputs,
                                                const std::string& directory);

}  // namespace search::index
