#include "frontend/policy/hit_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace search::frontend {
namespace {

TEST(HitShareTest, OnePartitionReturnsAll) { EXPECT_EQ(HitShare(50, 1), 0u); }

TEST(HitShareTest, IsALittleMoreThanThePartitionsPart) {
  EXPECT_EQ(HitShare(50, 4), 24u);
  EXPECT_EQ(HitShare(50, 2), 36u);
  EXPECT_EQ(HitShare(1000, 4), 295u);
  for (uint32_t partitions = 2; partitions < 100; ++partitions) {
    EXPECT_GT(HitShare(1000, partitions), 1000 / partitions) << partitions;
  }
}

TEST(HitShareTest, FewHitsAreNotDivided) {
  for (uint32_t count = 0; count <= 5; ++count) EXPECT_EQ(HitShare(count, 4), 0u) << count;
}

TEST(HitShareTest, IsRarelyExceeded) {
  std::mt19937_64 random(20260301);
  for (const uint32_t partition_count : {2u, 4u, 8u, 16u}) {
    for (const uint32_t hit_count : {10u, 50u, 200u, 1000u}) {
      const uint32_t share = HitShare(hit_count, partition_count);
      if (share == 0) continue;
      int exceeded = 0;
      constexpr int kRounds = 4000;
      for (int round = 0; round < kRounds; ++round) {
        std::vector<uint32_t> counts(partition_count);
        for (uint32_t i = 0; i < hit_count; ++i) ++counts[random() % partition_count];
        // A partition whose last hit is one of the best may have more of them.
        if (*std::max_element(counts.begin(), counts.end()) >= share) ++exceeded;
      }
      EXPECT_LT(exceeded, kRounds / 200) << hit_count << " of " << partition_count;
      EXPECT_LT(share, hit_count);
    }
  }
}

}  // namespace
}  // namespace search::frontend
