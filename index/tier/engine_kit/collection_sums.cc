#include "index/tier/engine_kit/collection_sums.h"

#include <algorithm>

namespace search::index {

void CollectionSums::AddPartition(const PartitionRecord& partition) {
  collection_.document_count += partition.document_count;
  for (size_t field = 0; field < kFieldCount; ++field) {
    collection_.length_sums[field] += partition.length_sums[field];
  }
}

neptune::StatusOr<CollectionRecord> CollectionSums::Finish(const RankingOptions& ranking) {
  if (!IsValid(ranking))
    return neptune::InvalidArgument("finish collection: invalid ranking options");
  std::sort(doc_ids_.begin(), doc_ids_.end());
  const auto twice = std::adjacent_find(doc_ids_.begin(), doc_ids_.end());
  if (twice != doc_ids_.end()) {
    return neptune::InvalidArgument("finish collection: document ", *twice, " occurs twice");
  }
  collection_.k1 = ranking.k1;
  collection_.static_rank_weight = ranking.static_rank_weight;
  for (size_t field = 0; field < kFieldCount; ++field) {
    collection_.weights[field] = ranking.fields[field].weight;
    collection_.bs[field] = ranking.fields[field].b;
  }
  return collection_;
}

uint32_t CollectionSums::FrequencyOf(std::string_view term) const {
  const uint64_t frequency = frequencies_.at(std::string(term));
  return static_cast<uint32_t>(std::min<uint64_t>(frequency, UINT32_MAX));
}

}  // namespace search::index
