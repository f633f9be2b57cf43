// Tables that the kit keeps among a store's values: records of the documents, the partition and the
// collection, and the collection's document frequency of each term.
//
//   "c"                              -> CollectionRecord, once the collection is finished
//   "p"                              -> PartitionRecord, once the partition is
//   "d" first_ordinal:4              -> DocumentRecord of up to kDocumentsPerValue documents
//   "g" size:1 term                  -> documents of the whole collection with the term, 4 bytes
//
// Numbers in keys are big-endian; records as in records.h.
//
// Threads: functions over a store; the writer is thread-compatible.
// Errors: FAILED_PRECONDITION if the partition or the collection was not finished; DATA_LOSS for
//   records of invalid size, order or value.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "index/tier/engine_kit/engine.h"
#include "index/tier/engine_kit/engine_partition.h"
#include "index/tier/engine_kit/records.h"
#include "neptune/base/status.h"

namespace search::index {

inline constexpr uint32_t kDocumentsPerValue = 4096;

class DocumentTableWriter {
 public:
  // Adds the next document. REQUIRES: ordinals ascend without gaps.
  neptune::Status Add(const DocumentRecord& document, EngineStore* store);
  // Call after the last document.
  neptune::Status Finish(const PartitionRecord& partition, EngineStore* store);

 private:
  neptune::Status WriteOut(EngineStore* store);

  std::vector<DocumentRecord> pending_;
  uint32_t written_count_ = 0;
};

// `directory` is used in messages.
neptune::StatusOr<PartitionRecord> ReadPartition(const EngineStore& store,
                                                 const std::string& directory);
// All documents, ascending by doc_id.
neptune::StatusOr<std::vector<DocumentRecord>> ReadDocuments(const EngineStore& store,
                                                             const std::string& directory);
neptune::StatusOr<CollectionRecord> ReadCollection(const EngineStore& store,
                                                   const std::string& directory);
neptune::Status WriteCollection(const CollectionRecord& collection, EngineStore* store);

// Empty for a term that no document can hold, because the analysis cuts words.
std::string FrequencyKey(std::string_view term);
// 0 for a term that the partition does not hold.
neptune::StatusOr<uint64_t> ReadFrequency(const EngineStore& store, std::string_view term);
neptune::Status WriteFrequency(std::string_view term, uint32_t frequency, EngineStore* store);

}  // namespace search::index
