// The second ranking phase over any engine that can return word positions.
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

// Access of the phase to an engine; all references must outlive the call.
struct RatingSpace {
  const Scorer& scorer;
  uint64_t collection_document_count = 0;
  // Returns DocumentRecord::length_codes of the document.
  std::function<uint32_t(uint32_t ordinal)> length_codes;
  // Document frequency in the collection of each word of ScoringWords; any number for a word that
  // the partition lacks.
  const std::vector<uint64_t>& document_frequencies;
  // Sets *places to the positions of the word in the document; for a title_only word, in the title
  // only. Ordinals ascend from call to call.
  std::function<neptune::Status(const ScoringWord& word, uint32_t ordinal, WordPlaces* places)>
      read_places;
};

// Computes the gain of the first tier_query.second_phase_count() hits of *answer and puts all hits
// in their final order. `ordinals` are the documents of the hits, in the same order, at least as
// many. `stop` may be empty and is polled for each document; if it returns true before the last,
// only evaluated_completely changes.
neptune::Status RunSecondPhase(const TierQuery& tier_query, const Query& query,
                               const RatingSpace& space, const std::vector<uint32_t>& ordinals,
                               const std::function<bool()>& stop, TierAnswer* answer);

}  // namespace search::index
