#include "neptune/dac/partition_account.h"

#include <algorithm>

namespace neptune {

void BalanceAccount(std::vector<PartitionId> expected, const Status& unlisted,
                    AggregationAnswer* answer) {
  std::sort(expected.begin(), expected.end());
  std::vector<bool> taken(expected.size());
  const auto take = [&](const PartitionId& partition) {
    const auto found = std::lower_bound(expected.begin(), expected.end(), partition);
    if (found == expected.end() || *found != partition) return false;
    const auto index = static_cast<size_t>(found - expected.begin());
    if (taken[index]) return false;
    taken[index] = true;
    return true;
  };
  std::erase_if(answer->contributing, [&](const PartitionId& p) { return !take(p); });
  std::erase_if(answer->missing, [&](const MissingPartition& m) { return !take(m.partition); });
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!taken[i]) answer->missing.push_back({expected[i], unlisted});
  }
  std::vector<PartitionId>& early = answer->ended_early;
  std::sort(early.begin(), early.end());
  early.erase(std::unique(early.begin(), early.end()), early.end());
  std::erase_if(early, [&](const PartitionId& p) {
    return !std::binary_search(expected.begin(), expected.end(), p);
  });
}

}  // namespace neptune
