// Breaks a document's score for a query down into its terms.
//
// Source: the formulas of ranking.h and of index/core/rerank/second_phase.h.
// No I/O but page faults of the mapped segment.
// Threads: pure function over immutable parts; values.
// Units: ScoreUnits as in score.h. score_units is exactly the sum of the static rank's and the
//   terms' units, and `score` is the document's first-phase score in a search.
// Errors: NOT_FOUND if the segment holds no such document, DATA_LOSS for damaged postings,
//   INVALID_ARGUMENT for a query over the limits of query_plan.h.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "index/core/query/query.h"
#include "index/core/rerank/second_phase.h"
#include "index/core/search/evaluation.h"
#include "index/core/search/score.h"
#include "neptune/base/status.h"

namespace search::index {

// One word of the query. A word restricted to the title is a separate word.
struct TermExplanation {
  std::string term;
  bool title_only = false;
  uint32_t occurrences = 0;  // in the query
  uint32_t percent = 100;    // share of the usual weight
  // In the collection; 0 also if the segment does not hold the word.
  uint32_t document_frequency = 0;
  double idf = 0;
  std::array<uint32_t, kFieldCount> frequencies = {};  // in the document, by Field
  float weighted_frequency = 0;                        // sum over the fields, by weight and length
  float saturation = 0;  // saturation of weighted_frequency, in [0, 1), after rounding
  ScoreUnits units = 0;  // occurrences * rounded (idf * percent / 100 * saturation)
};

struct Explanation {
  uint64_t doc_id = 0;
  // False if the query does not match the document; the score is then the one it would have.
  bool matches = false;
  std::array<float, kFieldCount> lengths = {};  // in words, as decoded from the length codes
  std::array<float, kFieldCount> mean_lengths = {};
  // What one occurrence of a word counts, by Field: the field's weight by the document's length.
  std::array<float, kFieldCount> norms = {};
  float static_rank = 0;
  ScoreUnits static_rank_units = 0;
  std::vector<TermExplanation> terms;  // each scoring word of the query once, in query order
  ScoreUnits score_units = 0;
  float score = 0;
  // Second-phase gain; set for a document that the second phase rates.
  Gain gain;
  bool lacks_positions = false;  // positions are missing that would have added to the gain
};

// REQUIRES: IsValid(second_phase).
neptune::StatusOr<Explanation> ExplainScore(const SearchSpace& space, const Query& query,
                                            uint64_t doc_id,
                                            const SecondPhaseWeights& second_phase);

// Text for people: one line each for the document, the static rank, every term and the gain.
std::string ToText(const Explanation& explanation);

}  // namespace search::index
