// Scores documents of one partition for one query from the frequencies of its words.
//
// Source: index/core/search/score.h; bit-identical to the index core's scores.
// Threads: immutable.
// Shapes: words and frequencies are in the order of ScoringWords.

#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "index/core/query/scoring_words.h"
#include "index/core/search/score.h"
#include "index/tier/engine_kit/engine_partition.h"

namespace search::index {

class QueryScore {
 public:
  // `frequencies[i]`: number of documents of the collection that hold words[i]. `partition` must
  // outlive this.
  QueryScore(const EnginePartition& partition, std::vector<ScoringWord> words,
             const std::vector<uint64_t>& frequencies);

  const std::vector<ScoringWord>& words() const { return words_; }
  // Upper bound of all scores.
  ScoreUnits units_max() const { return units_max_; }

  // Score of the document. `frequency_of(i, field)`: frequency of words()[i] in that field, as a
  // uint32_t.
  template <typename FrequencyOf>
  ScoreUnits Of(uint32_t ordinal, const FrequencyOf& frequency_of) const {
    const DocumentRecord& document = partition_.documents[ordinal];
    ScoreUnits units = partition_.scorer.StaticRankUnits(document.static_rank);
    for (size_t i = 0; i < words_.size(); ++i) {
      std::array<uint32_t, kFieldCount> frequencies = {};
      const size_t field_count = words_[i].title_only ? 1 : kFieldCount;
      for (size_t field = 0; field < field_count; ++field) {
        frequencies[field] = frequency_of(i, field);
      }
      if (frequencies == std::array<uint32_t, kFieldCount>{}) continue;
      units += weights_[i].Units(partition_.scorer.ToImpact(frequencies, document.length_codes));
    }
    return units;
  }

 private:
  const EnginePartition& partition_;
  const std::vector<ScoringWord> words_;
  std::vector<TermWeight> weights_;
  ScoreUnits units_max_;
};

}  // namespace search::index
