// Computes common statistics for the segments of one collection, so that the merged answers of the
// segments equal the answer of one segment with all documents, scores included.
//
// Writes the file `statistics` into each segment's directory: number of documents and mean field
// lengths of the whole collection, document frequency in the whole collection of each of the
// segment's terms, and the bounds of each term and posting block under the given ranking.
//
// Format: index/core/segment/format.md.
// Reads and writes files.
// Threads: uses thread_count threads inside the call.
// Errors: DATA_LOSS for a damaged segment; UNAVAILABLE for the file system; INVALID_ARGUMENT for
//   impossible options or a doc_id that occurs in two segments.
// Limits: kSegmentsMax segments; memory is 12 bytes for each term and block of all segments.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "index/core/search/ranking.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr size_t kSegmentsMax = 4096;

struct GlobalStatisticsOptions {
  RankingOptions ranking = {};
  // Number of segments whose bounds are computed concurrently. Default: one.
  int thread_count = 1;
};

// `directories`: the directories of all segments of the collection, that is, of every partition and
// both tiers.
neptune::Status ComputeGlobalStatistics(const std::vector<std::string>& directories,
                                        const GlobalStatisticsOptions& options = {});

}  // namespace search::index
