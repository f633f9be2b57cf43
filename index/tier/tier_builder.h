// Builds one partition of an index tier: the interface of every implementation's builder.
//
// Writes files; no clock.
// Threads: thread-compatible; several partitions may be built at once, with one builder each.
// Errors: INVALID_ARGUMENT for a document out of order or with an impossible rank; UNAVAILABLE for
//   the file system; RESOURCE_EXHAUSTED beyond a limit. After an error a builder refuses all
//   further calls.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/document.h"
#include "index/core/search/ranking.h"
#include "index/suggest/asked_query.h"
#include "neptune/base/status.h"

namespace search::index {

struct TierBuilderOptions {
  // Folder of the partition; created if absent.
  std::string directory;
  // Bytes of postings held in memory before they are written. Larger: fewer runs to merge. Default:
  // 256 MiB. At least 1 MiB.
  size_t memory_size_max = size_t{256} << 20;
};

class TierBuilder {
 public:
  virtual ~TierBuilder() = default;

  // REQUIRES: doc_id is greater than the previous document's, else INVALID_ARGUMENT.
  virtual neptune::Status Add(const IndexedDocument& document) = 0;

  // The same for a document with these headings, one on each line, which are part of its text: they
  // may become suggestions. Implementations without suggestions ignore them.
  virtual neptune::Status AddWithHeadings(const IndexedDocument& document,
                                          std::string_view headings) {
    return Add(document);
  }

  // Completes the partition. Call it once. The partition can be searched after FinishTierCollection
  // (registry.h), which needs all partitions of both tiers.
  virtual neptune::Status Finish() = 0;
};

// Options common to all partitions of one version of the index.
struct TierCollectionOptions {
  // Included in every answer; caches use it to detect outdated entries.
  uint64_t index_version = 1;
  RankingOptions ranking;
  // The first tier1_count directories are tier 1 and all others tier 2; 0: not known, or one tier.
  // If known, the segment variant writes bounds by which tier 2 need not always be asked.
  size_t tier1_count = 0;
  // Questions to suggest, if the implementation supports it; the caller guards privacy.
  std::vector<AskedQuery> asked_queries = {};
  // Number of partitions finished concurrently, if the implementation supports it.
  int thread_count = 1;
};

}  // namespace search::index
