#include "index/tier/engine_kit/query_score.h"

namespace search::index {

QueryScore::QueryScore(const EnginePartition& partition, std::vector<ScoringWord> words,
                       const std::vector<uint64_t>& frequencies)
    : partition_(partition),
      words_(std::move(words)),
      units_max_(partition.scorer.StaticRankUnits(1)) {
  for (size_t i = 0; i < words_.size(); ++i) {
    weights_.emplace_back(partition.collection.document_count, frequencies[i],
                          words_[i].occurrences, words_[i].percent);
    units_max_ += weights_[i].Units(kImpactMax);
  }
}

}  // namespace search::index
