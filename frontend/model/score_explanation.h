// How the score of a result came about: parts that add up to it.
//
// The formulas are in index/core/search/ranking.h and index/core/rerank/second_phase.h.
// Threads: plain values.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace search::frontend {

inline constexpr size_t kExplainedFieldCount = 3;
inline constexpr std::array<std::string_view, kExplainedFieldCount> kExplainedFields = {
    "title", "body", "links"};

struct ExplainedField {
  double length = 0;  // words of the document's field
  double mean_length = 0;
  double weight = 0;  // what one occurrence counts, by the field and the document's length
};

struct ExplainedWord {
  std::string term = {};  // as indexed
  std::string word = {};  // as typed; empty for words of a prefix
  bool title_only = false;
  uint32_t occurrences = 0;  // in the query
  double share = 1;          // of the usual weight
  uint64_t document_count = 0;
  double weight = 0;                                            // inverse document frequency
  std::array<uint32_t, kExplainedFieldCount> frequencies = {};  // in the document, by field
  double weighted_frequency = 0;  // sum of frequencies times ExplainedField::weight
  double saturation = 0;          // of the weighted frequency, below 1
  double score = 0;               // occurrences * share * weight * saturation
};

struct ScoreExplanation {
  std::array<ExplainedField, kExplainedFieldCount> fields = {};
  double static_rank = 0;
  double static_rank_score = 0;
  std::vector<ExplainedWord> words = {};
  double first_score = 0;  // of the static rank and the words
  // Whether the second phase rated the document; only then its gains are parts of the score.
  bool is_rated = false;
  double proximity = 0;
  double title = 0;
  double lead = 0;
  // The index has no positions, from which proximity and lead are computed.
  bool lacks_positions = false;
  // Sum of all parts.
  double score = 0;
  // False if it is not the score of the result, because documents changed after the search.
  bool is_current = true;
};

}  // namespace search::frontend
