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
#include "index/core/analysis/analyzer.h"
#include "index/tier/rocksdb_postings/keys.h"
#include "index/tier/rocksdb_postings/posting_chunk.h"
#include "index/tier/rocksdb_postings/posting_database.h"
#include "index/tier/tier_builder.h"
#include "neptune/base/status.h"

namespace search::index::rocksdb_postings {

class PostingBuilder : public TierBuilder {
 public:
  static neptune::StatusOr<std::unique_ptr<PostingBuilder>> Create(
      const TierBuilderOptions& options);

  neptune::Status Add(const IndexedDocument& document) override;
  neptune::Status Finish() override;

 private:
  PostingBuilder(size_t memory_size_max, std::unique_ptr<PostingDatabase> database);

  neptune::Status AddChecked(const IndexedDocument& document);
  neptune::Status FinishChecked();
  // Both add to document_terms_; AddField returns the number of words indexed.
  uint32_t AddField(Field field, std::string_view text);
  void AddSite(std::string_view site);
  void InvertDocument(uint32_t ordinal);
  neptune::Status WriteOut();
  neptune::Status WriteDocuments();

  const size_t memory_size_max_;
  std::unique_ptr<PostingDatabase> database_;
  Analyzer analyzer_;
  std::vector<Token> tokens_;
  absl::flat_hash_map<std::string, FieldPositions> document_terms_;
  absl::flat_hash_map<std::string, PostingChunkWriter> chunks_;
  size_t chunks_size_ = 0;                 // estimate of their memory
  std::vector<DocumentRecord> documents_;  // not yet written
  PartitionRecord partition_;
  uint64_t last_doc_id_ = 0;
  neptune::Status status_;
};

// Gives partitions their common statistics.
// Memory is the collection's vocabulary and 8 bytes a document.
// Errors: INVALID_ARGUMENT a doc_id that stands twice, or impossible ranking options.
neptune::Status FinishPartitions(const std::vector<std::string>& directories,
                                 const RankingOptions& ranking);

}  // namespace search::index::rocksdb_postings
