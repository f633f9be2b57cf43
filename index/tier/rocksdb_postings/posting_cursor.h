// Iterates over the documents of one term.
//
// Threads: thread-compatible; lives for one search.
// Errors: damage ends it as if there were no more documents and sets damaged().

#pragma once

#include <cstdint>
#include <vector>

#include "index/tier/rocksdb_postings/posting_chunk.h"
#include "index/tier/rocksdb_postings/query_postings.h"

namespace search::index::rocksdb_postings {

inline constexpr uint32_t kNoDocument = UINT32_MAX;

class TermPostingCursor {
 public:
  // Starts at the term's first document, or at kNoDocument if it has none. The postings must
  // outlive it.
  explicit TermPostingCursor(const TermPostings& postings) : postings_(postings) { Next(); }

  uint32_t ordinal() const { return posting_.ordinal; }
  const Posting& posting() const { return posting_; }
  // Replaces *positions; empty if damaged.
  void Positions(Field field, std::vector<uint32_t>* positions);

  void Next();
  // Moves to the first document at or after `target`.
  void Seek(uint32_t target) {
    while (ordinal() < target) Next();
  }

  // Number of documents of the whole collection with the term.
  uint64_t document_frequency() const { return postings_.document_frequency; }
  bool damaged() const { return damaged_; }

 private:
  const TermPostings& postings_;
  size_t next_chunk_ = 0;
  PostingChunkReader reader_;
  Posting posting_;
  bool damaged_ = false;
};

}  // namespace search::index::rocksdb_postings
