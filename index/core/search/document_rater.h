// Reads the positions of a query's words in documents of a segment and rates them by the second
// phase.
//
// Source: index/core/rerank/second_phase.h.
// Threads: thread-compatible; lives for one search.
// Errors: DATA_LOSS for a damaged dictionary; damaged postings are reported by the evaluation.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/rerank/second_phase.h"
#include "index/core/search/evaluation.h"
#include "neptune/base/status.h"

namespace search::index {

class DocumentRater {
 public:
  // REQUIRES: IsValid(weights).
  static neptune::StatusOr<std::unique_ptr<DocumentRater>> Create(const Query& query,
                                                                  const SecondPhaseWeights& weights,
                                                                  Evaluation* evaluation);

  // REQUIRES: ordinals ascend from call to call.
  Gain Rate(uint32_t ordinal);

  // Words that the document of the last Rate lacks, as Hit::lacks.
  uint64_t lacks() const { return lacks_; }

  // Whether parts of the gain are missing because the segment has no positions.
  bool lacks_positions() const { return lacks_positions_; }

 private:
  struct Word {
    PostingCursor* cursor = nullptr;  // nullptr: the segment does not hold the word
    const uint64_t* bitmap = nullptr;
    bool title_only = false;
  };

  DocumentRater(std::vector<Word> words, SecondPhase phase, Evaluation* evaluation);
  void ReadPlaces(const Word& word, uint32_t ordinal, WordPlaces* places);

  const std::vector<Word> words_;
  const SecondPhase phase_;
  Evaluation* const evaluation_;
  const bool reads_positions_;
  const bool lacks_positions_;
  uint64_t lacks_ = 0;
  std::vector<WordPlaces> places_;  // positions in the current document, by word
};

}  // namespace search::index
