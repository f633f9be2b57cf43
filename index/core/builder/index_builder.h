// Builds one segment from documents in ascending order of doc_id, in bounded memory: inverts them
// in an arena, spills sorted runs to the target directory when the arena is full, and merges the
// runs at the end.
//
// Source: single-pass in-memory inversion [Heinz03].
// Writes files; no clock; starts threads if thread_count is above 1.
// Threads: thread-compatible. To build several segments concurrently, use one builder for each.
// Errors: INVALID_ARGUMENT for a document that is out of order or has an invalid rank; UNAVAILABLE
//   for file system errors; RESOURCE_EXHAUSTED beyond a limit. After an error the builder refuses
//   every further call with that error.
// Limits: kSegmentDocumentsMax documents; memory_size_max plus the largest document; 1,024 runs.
//
// Deterministic: the same documents give the same bytes, whatever thread_count and memory_size_max
// are (when reordering: as long as all terms fit into memory_size_max).
//
// A collection of P partitions and two tiers needs 2 P builders, then one ComputeGlobalStatistics
// (index/core/search/global_statistics.h) over all their directories; it can be searched only after
// that.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "index/core/analysis/analyzer.h"
#include "index/core/builder/segment_summary.h"
#include "index/core/document.h"
#include "index/core/segment/section_file.h"
#include "neptune/base/status.h"

namespace search::index {

struct IndexBuilderOptions {
  // Directory of the segment; created if absent. Files of an earlier segment in it are replaced.
  std::string directory;
  // Memory for inversion. Larger: fewer runs to merge. At the limit a run is spilled. Default: a
  // segment of 100,000 pages without a spill. Minimum: 1 MiB; with several threads 3 MiB per thread
  // and 3 MiB more.
  size_t memory_size_max = size_t{256} << 20;
  // The rule that finds the words of titles, bodies and extra text. Queries must be analyzed with
  // the same rule; the query language uses the default.
  WordRule words = WordRule::kLanguage;
  // Reorders the documents so that similar ones are adjacent (segment_reorderer.h): a smaller
  // segment and faster searches, but about twice the build time. Uses memory_size_max once more for
  // that, and considers fewer terms if that is too little.
  bool reorder = false;
  // Number of threads that invert documents, in addition to the caller's if there are several, and
  // that compute the order; one thread writes the segment. Default: one, the caller's.
  int thread_count = 1;
  // Durability of the segment when Finish returns. Default: it survives a crash of the machine.
  Durability durability = Durability::kSynced;
};

class IndexBuilder {
 public:
  // Errors: UNAVAILABLE if the directory cannot be created; INVALID_ARGUMENT for invalid options.
  static neptune::StatusOr<std::unique_ptr<IndexBuilder>> Create(IndexBuilderOptions options);

  ~IndexBuilder();  // removes the spilled runs
  IndexBuilder(const IndexBuilder&) = delete;
  IndexBuilder& operator=(const IndexBuilder&) = delete;

  // REQUIRES: doc_id greater than that of the previous document, else INVALID_ARGUMENT.
  neptune::Status Add(const IndexedDocument& document);

  // Writes the segment. Without any documents it is a valid, empty segment. Call it once.
  neptune::StatusOr<SegmentSummary> Finish();

 private:
  class Rep;
  explicit IndexBuilder(std::unique_ptr<Rep> rep);

  std::unique_ptr<Rep> rep_;
};

}  // namespace search::index
