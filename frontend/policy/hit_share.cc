#include "frontend/policy/hit_share.h"

namespace search::frontend {
namespace {

// Probability that some partition has as many of the best hits as its share, or more. Smaller: more
// hits from each partition; larger: more searches ask a tier twice.
constexpr double kExceeded = 0.003;

}  // namespace

// The number of the best hits in one partition has a binomial distribution, whose terms are added
// from 0 on; all partitions together exceed their shares at most as often as the sum over them.
uint32_t HitShare(uint32_t hit_count, uint32_t partition_count) {
  if (partition_count < 2) return 0;
  const double odds = 1.0 / (partition_count - 1);
  double probability = 1;  // that a partition has `share` of them
  for (uint32_t i = 0; i < hit_count; ++i) probability *= 1 - 1.0 / partition_count;
  double less = 0;  // that it has fewer
  uint32_t share = 0;
  while (share < hit_count && (1 - less) * partition_count > kExceeded) {
    less += probability;
    probability *= odds * (hit_count - share) / (share + 1);
    ++share;
  }
  return share < hit_count ? share : 0;
}

}  // namespace search::frontend
