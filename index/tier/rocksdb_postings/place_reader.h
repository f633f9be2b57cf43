// Where a query's words stand in documents, from a search's postings.
//
// Source: none. Layer: index/tier/rocksdb_postings. Threads: thread-compatible; lives for one search.
// Errors: DATA_LOSS damage.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "index/core/query/scoring_words.h"
#include "index/core/rerank/second_phase.h"
#include "index/tier/rocksdb_postings/posting_cursor.h"
#include "index/tier/rocksdb_postings/query_postings.h"
#include "neptune/base/status.h"

namespace search::index::rocksdb_postings {

class PlaceReader {
 public:
  // The postings outlive it and are of the query whose words are asked for.
  explicit PlaceReader(const QueryPostings& postings) : postings_(postings) {}

  uint64_t DocumentFrequency(const ScoringWord& word) const {
    return postings_.Of(word.term).document_frequency;
  }
  // As RatingSpace::read_places (index/tier/engine_kit/second_phase.h).
  neptune::Status Read(const ScoringWord& word, uint32_t ordinal, WordPlaces* places);

 private:
  const QueryPostings& postings_;
  std::map<std::string, TermPostingCursor> cursors_[2];  // second: of the title only
};

}  // namespace search::index::rocksdb_postings
