// The second ranking phase over any engine that can report the positions of words in a document.
//
// Source: index/core/rerank/second_phase.h.
// Threads: pure functions.
// Errors: those of the engine's callbacks.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/query/scoring_words.h"
#include "index/core/rerank/second_phase.h"
#include "index/core/search/score.h"
#include "index/tier/tier.pb.h"
#include "neptune/base/status.h"

namespace search::index {

// The engine data that the phase reads; everything must outlive the call.
struct RatingSpace {
  const Scorer& scorer;
  uint64_t collection_document_count = 0;
  // Returns DocumentRecord::length_codes of the document.
  std::function<uint32_t(uint32_t ordinal)> length_codes;
  // Number of documents of the collection with each word of ScoringWords; arbitrary for a word that
  // the partition does not hold.
  const std::vector<uint64_t>& document_frequencies;
  // Replaces *places by the positions of the word in the document; for a title_only word, in its
  // title only. The requested ordinals ascend.
  std::function<neptune::Status(const ScoringWord& word, uint32_t ordinal, WordPlaces* places)>
      read_places;
};

// Gives the first question.second_phase_count() hits of *answer their gain and reorders all hits.
// `ordinals` are those of the hits, in the same order (at least as many as are rated). `stop` may
// be empty and is called for each document; if it returns true before the last one, nothing but
// evaluated_completely changes.
neptune::Status RunSecondPhase(const TierQuery& question, const Query& query,
                               const RatingSpace& space, const std::vector<uint32_t>& ordinals,
                               const std::function<bool()>& stop, TierAnswer* answer);

}  // namespace search::index
