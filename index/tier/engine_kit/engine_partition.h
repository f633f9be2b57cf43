// The in-memory part of an open partition of a foreign engine: its documents' records and the
// collection's numbers.
//
// Threads: immutable once read (engine_tables.h).
// Limits: 16 bytes per document.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "index/core/search/collection_statistics.h"
#include "index/core/search/score.h"
#include "index/tier/engine_kit/records.h"

namespace search::index {

struct EnginePartition {
  EnginePartition(std::string_view tier_name, uint64_t version, const CollectionRecord& numbers,
                  std::vector<DocumentRecord> records)
      : name(tier_name),
        index_version(version),
        collection(numbers),
        documents(std::move(records)),
        scorer(MeanLengths(numbers.document_count, numbers.length_sums), RankingOf(numbers)) {}

  const std::string_view name;  // name of the tier; a constant
  const uint64_t index_version;
  const CollectionRecord collection;
  const std::vector<DocumentRecord> documents;  // indexed by ordinal
  const Scorer scorer;
};

}  // namespace search::index
