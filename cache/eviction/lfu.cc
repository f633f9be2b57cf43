#include "cache/eviction/lfu.h"

#include "cache/eviction/greedy_dual.h"

namespace search::cache {

std::unique_ptr<EvictionPolicy> MakeLfu(uint64_t size_max) {
  return std::make_unique<GreedyDual>(size_max, [](EntryWeight) { return 1.0; });
}

}  // namespace search::cache
