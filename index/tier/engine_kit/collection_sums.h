// Sums from which a collection's statistics are computed, for a variant over a foreign store.
//
// Source: index/core/search/ranking.h.
// Threads: thread-compatible.
// Limits: memory is the collection's vocabulary and 8 bytes per document.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "index/core/search/ranking.h"
#include "index/tier/engine_kit/records.h"
#include "neptune/base/status.h"

namespace search::index {

class CollectionSums {
 public:
  void AddPartition(const PartitionRecord& partition);
  void AddDocument(uint64_t doc_id) { doc_ids_.push_back(doc_id); }
  // Adds `count` documents that hold the term.
  void AddTerm(std::string_view term, uint64_t count) { frequencies_[std::string(term)] += count; }

  // Call once, after all of the above.
  // Errors: INVALID_ARGUMENT for a document that occurs twice, or invalid ranking options.
  neptune::StatusOr<CollectionRecord> Finish(const RankingOptions& ranking);

  // Number of documents of the collection that hold the term. REQUIRES: the term was added.
  uint32_t FrequencyOf(std::string_view term) const;

 private:
  CollectionRecord collection_;
  std::vector<uint64_t> doc_ids_;
  absl::flat_hash_map<std::string, uint64_t> frequencies_;
};

}  // namespace search::index
