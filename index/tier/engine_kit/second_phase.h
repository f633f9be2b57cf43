// The second ranking phase over any engine that can say where words stand in a document.
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

// What the phase reads of an engine; all outlive the call.
struct RatingSpace {
  const Scorer& scorer;
  uint64_t collection_document_count = 0;
  // DocumentRecord::length_codes of the document.
  std::function<uint32_t(uint32_t ordinal)> length_codes;
  // Documents of the collection with each word of ScoringWords; any number of a word that the partition lacks.
  const std::vector<uint64_t>& document_frequencies;
  // Replaces *places by where the word stands in the document; of a title_only word, in its title only.
  // Ordinals that it is asked for ascend.
  std::function<neptune::Status(const ScoringWord& word, uint32_t ordinal, WordPlaces* places)>
      read_places;
};

// Gives the first question.second_phase_count() hits of *answer, which are of the documents `ordinals` (in the
// order of hits, at least as many), their gain, and puts all in their final order. Where `stop`, which may be empty
// and is asked for each document, says so before the last, nothing but evaluated_completely changes.
neptune::Status RunSecondPhase(const TierQuery& question, const Query& query,
                               const RatingSpace& space, const std::vector<uint32_t>& ordinals,
                               const std::function<bool()>& stop, TierAnswer* answer);

}  // namespace search::index
