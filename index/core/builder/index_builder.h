// Builds one segment from documents in ascending order of doc_id, in bounded memory: inverts into
// an arena, spills sorted runs to the target folder when the arena is full, and merges the runs at
// the end.
//
// Source: single-pass in-memory inversion [Heinz03].
// Writes files; no clock; starts threads if thread_count is above 1.
// Threads: thread-compatible. Build several segments at once with one builder each.
// Errors: INVALID_ARGUMENT for a document that is out of order or has an invalid rank; UNAVAILABLE
//   for failures of the file system; RESOURCE_EXHAUSTED beyond a limit. After an error the builder
//   returns the same error from every further call.
// Limits: kSegmentDocumentsMax documents; memory_size_max plus the largest document; 1,024 runs.
//
// Deterministic: the same documents yield the same bytes for any thread_count and memory_size_max
//   (with reordering: as long as all terms fit in memory_size_max).
//
// A collection of P partitions and two tiers takes 2 P builders, followed by one
// ComputeGlobalStatistics (index/core/search/global_statistics.h) over all their folders; only then
// can the segments be searched.

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
  // Folder of the segment; created if absent. Replaces an earlier segment in it.
  std::string directory;
  // Memory for inversion. Larger: fewer runs to merge. At the limit a run is spilled. Default: a
  // segment of 100,000 pages without a spill. Minimum: 1 MiB; with several threads 3 MiB per thread
  // and 3 MiB more.
  size_t memory_size_max = size_t{256} << 20;
  // Tokenization of titles, bodies and extra text. Queries must use the same rule; the query
  // language uses the default.
  WordRule words = WordRule::kLanguage;
  // Reorders documents when all have been added (segment_reorderer.h): a smaller segment and faster
  // searches, at about twice the build time. Needs memory_size_max a second time, and ignores the
  // rarest terms if it does not suffice.
  bool reorder = false;
  // Threads that invert documents, besides the caller's if there are several, and that find the
  // order; the segment is written by one. Default: one, the caller's.
  int thread_count = 1;
  // Durability of the segment when Finish returns. Default: it survives a crash of the machine.
  Durability durability = Durability::kSynced;
};

class IndexBuilder {
 public:
  // Errors: UNAVAILABLE if the folder cannot be created; INVALID_ARGUMENT for invalid options.
  static neptune::StatusOr<std::unique_ptr<IndexBuilder>> Create(IndexBuilderOptions options);

  ~IndexBuilder();  // removes the spilled runs
  IndexBuilder(const IndexBuilder&) = delete;
  IndexBuilder& operator=(const IndexBuilder&) = delete;

  // REQUIRES: doc_id is greater than the previous document's, else INVALID_ARGUMENT.
  neptune::Status Add(const IndexedDocument& document);

  // Writes the segment. Without documents the result is a valid, empty segment. Call once.
  neptune::StatusOr<SegmentSummary> Finish();

 private:
  class Rep;
  explicit IndexBuilder(std::unique_ptr<Rep> rep);

  std::unique_ptr<Rep> rep_;
};

}  // namespace search::index
