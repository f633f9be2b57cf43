// One partition's postings in RocksDB: inverts documents in memory and writes chunks when the
// memory is full; chunks are never merged.
//
// Threads, errors: as in engine.h.
// Limits: 2^32 - 1 documents; memory is memory_size_max and one document.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "index/tier/engine_kit/engine.h"
#include "index/tier/rocksdb_postings/posting_chunk.h"
#include "index/tier/rocksdb_postings/posting_database.h"
#include "neptune/base/status.h"

namespace search::index::rocksdb_postings {

class PostingStore : public EngineStore {
 public:
  static neptune::StatusOr<std::unique_ptr<EngineStore>> Open(const TierBuilderOptions& options,
                                                              EngineMode mode);

  neptune::Status Write(const TermVectorBuilder& document) override;
  neptune::Status Put(const std::string& key, std::string_view value) override {
    return database_->Put(key, value);
  }
  neptune::StatusOr<std::string> Get(const std::string& key) const override;
  neptune::Status ForEachTerm(const VisitTerm& visit) const override;
  // No effect: chunks are written when their own bytes reach memory_size_max, which is later.
  neptune::Status Flush() override { return neptune::OkStatus(); }
  neptune::Status Close() override;

 private:
  PostingStore(size_t memory_size_max, std::unique_ptr<PostingDatabase> database)
      : memory_size_max_(memory_size_max), database_(std::move(database)) {}

  neptune::Status WriteOut();

  const size_t memory_size_max_;
  const std::unique_ptr<PostingDatabase> database_;
  absl::flat_hash_map<std::string, PostingChunkWriter> chunks_;
  size_t chunks_size_ = 0;  // estimate of their memory
  uint32_t document_count_ = 0;
};

}  // namespace search::index::rocksdb_postings
