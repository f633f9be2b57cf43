// Walks over the documents of one term, from the chunks of the posting database.
//
// Source: none. Layer: index/tier/rocksdb_postings. Threads: thread-compatible; lives for one
// search. Errors: damage ends it as if there were no more documents, and damaged() tells. Limits:
// holds all of the term's encoded postings in memory; Open refuses more than size_max bytes.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "index/tier/rocksdb_postings/posting_chunk.h"
#include "index/tier/rocksdb_postings/posting_database.h"
#include "neptune/base/status.h"

namespace search::index::rocksdb_postings {

inline constexpr uint32_t kNoDocument = UINT32_MAX;

class TermPostingCursor {
 public:
  // Stands at the term's first document; at kNoDocument if it has none.
  // Errors: DATA_LOSS; RESOURCE_EXHAUSTED over size_max.
  static neptune::StatusOr<std::unique_ptr<TermPostingCursor>> Open(const PostingDatabase& database,
                                                                    std::string_view term,
                                                                    uint64_t size_max);

  uint32_t ordinal() const { return posting_.ordinal; }
  const Posting& posting() const { return posting_; }
  // Replaces *positions; empty at damage.
  void Positions(Field field, std::vector<uint32_t>* positions);

  void Next();
  // To the first document at or behind `target`.
  void Seek(uint32_t target) {
    while (ordinal() < target) Next();
  }

  // Documents of the whole collection with the term.
  uint64_t document_frequency() const { return document_frequency_; }
  uint64_t size() const { return size_; }
  bool damaged() const { return damaged_; }

 private:
  TermPostingCursor() = default;

  std::vector<std::string> chunks_;
  size_t next_chunk_ = 0;
  PostingChunkReader reader_;
  Posting posting_;
  uint64_t size_ = 0;
  uint64_t document_frequency_ = 0;
  bool damaged_ = false;
};

}  // namespace search::index::rocksdb_postings
