#include "cache/eviction/gdsf.h"

#include <algorithm>

#include "cache/eviction/greedy_dual.h"

namespace search::cache {

std::unique_ptr<EvictionPolicy> MakeGdsf(uint64_t size_max) {
  return std::make_unique<GreedyDual>(size_max, [](EntryWeight weight) {
    const auto cost = static_cast<double>(std::max<uint64_t>(1, weight.cost_us));
    return cost / static_cast<double>(weight.size);
  });
}

}  // namespace search::cache
