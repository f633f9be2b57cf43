#include "index/tier/local_search.h"

#include <optional>
#include <utility>

#include "index/tier/operators.h"
#include "index/tier/registry.h"

namespace search::index {

using neptune::StatusOr;

StatusOr<std::vector<std::unique_ptr<IndexTier>>> OpenPartitions(
    const std::string& implementation, std::span<const std::string> folders) {
  std::vector<std::unique_ptr<IndexTier>> partitions;
  for (const std::string& folder : folders) {
    NEPTUNE_ASSIGN_OR_RETURN(auto opened, OpenIndexTier(implementation, folder));
    partitions.push_back(std::move(opened));
  }
  return partitions;
}

StatusOr<TierAnswer> SearchPartitions(std::span<const std::unique_ptr<IndexTier>> partitions,
                                      const TierQuery& query) {
  std::optional<TierAnswer> merged;
  for (const auto& partition : partitions) {
    NEPTUNE_ASSIGN_OR_RETURN(TierAnswer answer, partition->Search(query, {}));
    merged = merged ? MergeTierAnswers(*merged, answer, query.hit_count_max()) : std::move(answer);
  }
  if (!merged) return neptune::InvalidArgument("a search of no partition");
  return *std::move(merged);
}

}  // namespace search::index
