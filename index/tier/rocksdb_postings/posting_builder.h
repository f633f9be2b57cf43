// Builds the posting database of one partition: inverts documents in memory, writes chunks out when
// it is full, never merges them.
//
// Source: none. Layer: index/tier/rocksdb_postings. Threads, errors: as tier_builder.h says.
// Limits: 2^32 - 1 documents; memory is memory_size_max and one document.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "index/tier/engine_kit/engine_builder.h"
#include "index/tier/rocksdb_postings/posting_chunk.h"
#include "index/tier/rocksdb_postings/posting_database.h"
#include "index/tier/tier_builder.h"
#include "neptune/base/status.h"

namespace search::index::rocksdb_postings {

class PostingBuilder : public EngineBuilder {
 public:
  static neptune::StatusOr<std::unique_ptr<PostingBuilder>> Create(
      const TierBuilderOptions& options);

 private:
  PostingBuilder(size_t memory_size_max, std::unique_ptr<PostingDatabase> database);

  neptune::Status Write(const DocumentInverter& document) override;
  neptune::Status Close(const PartitionRecord& partition) override;
  neptune::Status WriteOut();
  neptune::Status WriteDocuments();

  const size_t memory_size_max_;
  std::unique_ptr<PostingDatabase> database_;
  absl::flat_hash_map<std::string, PostingChunkWriter> chunks_;
  size_t chunks_size_ = 0;                 // estimate of their memory
  std::vector<DocumentRecord> documents_;  // not yet written
  uint32_t document_count_ = 0;
};

// Gives partitions their common statistics.
// Memory is the collection's vocabulary and 8 bytes a document.
// Errors: INVALID_ARGUMENT a doc_id that stands twice, or impossible ranking options.
neptune::Status FinishPartitions(const std::vector<std::string>& directories,
                                 const RankingOptions& ranking);

}  // namespace search::index::rocksdb_postings
