#include "index/core/search/best_cut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace search::index {
namespace {

uint16_t Cut(const std::vector<uint16_t>& values, uint16_t most, size_t wanted) {
  return CutForBest<uint16_t>(values, most, wanted);
}

TEST(BestCutTest, IsExactForValuesBelowTheNumberOfBins) {
  EXPECT_EQ(Cut({1, 5, 3, 5, 2}, 5, 1), 5);
  EXPECT_EQ(Cut({1, 5, 3, 5, 2}, 5, 3), 3);
}

TEST(BestCutTest, IsZeroIfThereAreFewerValuesThanWanted) {
  EXPECT_EQ(Cut({7, 8}, 8, 3), 0);
  EXPECT_EQ(Cut({}, 8, 1), 0);
}

TEST(BestCutTest, ValueAboveTheMostCountsAsTheLargest) {
  EXPECT_EQ(Cut({1, 40'000, 3, 65'535, 2}, 5, 2), 511);
  EXPECT_EQ(Cut({1, 40'000, 3, 65'535, 2}, 5, 3), 3);
}

TEST(BestCutTest, PicksAtLeastTheWantedNumberAndAtMostOneBinMore) {
  std::mt19937 rng(1);
  std::vector<uint32_t> values(5000);
  for (uint32_t& value : values) value = rng() % 1'000'000;
  for (const size_t wanted : {1, 24, 500, 5000}) {
    const uint32_t cut = CutForBest<uint32_t>(values, 999'999, wanted);
    const auto reached = [&](uint32_t least) {
      return static_cast<size_t>(
          std::count_if(values.begin(), values.end(), [=](uint32_t v) { return v >= least; }));
    };
    EXPECT_GE(reached(cut), wanted);
    EXPECT_LT(reached(cut + 2048), wanted);  // 2,048 is the width of a bin
  }
}

}  // namespace
}  // namespace search::index
