#include "neptune/world/faults/shrink.h"

#include <gtest/gtest.h>

#include <numeric>

namespace neptune {
namespace {

using Numbers = std::vector<int>;

Numbers UpTo(int count) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

bool Contains(const Numbers& numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

TEST(ShrinkTest, FindsTheItemsThatFailTogether) {
  for (const int count : {9, 10, 64, 100}) {
    const Numbers fewest = Shrink<int>(
        UpTo(count), [](const Numbers& n) { return Contains(n, 3) && Contains(n, 8); }, 10'000);
    EXPECT_EQ(fewest, (Numbers{3, 8})) << count;
  }
}

TEST(ShrinkTest, ShrinksToNothingIfEverythingFails) {
  EXPECT_TRUE(Shrink<int>(
                  UpTo(33), [](const Numbers&) { return true; }, 10'000)
                  .empty());
}

TEST(ShrinkTest, AnEmptyListStaysEmpty) {
  EXPECT_TRUE(Shrink<int>(
                  {}, [](const Numbers&) { return true; }, 10)
                  .empty());
}

TEST(ShrinkTest, StopsAfterTheAllowedRunsAndKeepsTheShortest) {
  int run_count = 0;
  const Numbers fewest = Shrink<int>(
      UpTo(64),
      [&](const Numbers& n) {
        ++run_count;
        return Contains(n, 63);
      },
      3);
  EXPECT_LE(run_count, 3);
  EXPECT_LT(fewest.size(), 64u);
  EXPECT_TRUE(Contains(fewest, 63));
}

}  // namespace
}  // namespace neptune
