// Runs one search over the postings of its words, which are already in memory.
//
// Threads: thread-compatible; lives for one search.
// Errors: DATA_LOSS for damage.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "index/tier/engine_kit/engine.h"
#include "index/tier/rocksdb_postings/posting_cursor.h"
#include "index/tier/rocksdb_postings/query_postings.h"
#include "neptune/base/status.h"

namespace search::index::rocksdb_postings {

class PostingSearcher : public EngineSearcher {
 public:
  // The postings must outlive it and belong to the query that is searched.
  PostingSearcher(const QueryPostings& postings, size_t document_count)
      : postings_(postings), document_count_(document_count) {}

  neptune::StatusOr<uint64_t> DocumentFrequency(const std::string& term) override {
    return postings_.Of(term).document_frequency;
  }
  neptune::StatusOr<Found> Find(const EngineQuery& engine_query) override;
  neptune::Status ReadPositions(const std::string& term, Field field, uint32_t ordinal,
                                std::vector<uint32_t>* positions) override;

 private:
  const QueryPostings& postings_;
  const size_t document_count_;
  std::map<std::string, TermPostingCursor> place_cursors_;
};

}  // namespace search::index::rocksdb_postings
