#include "tools/statistics/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace search::lab {
namespace {

TEST(EstimateTest, MeanHasStudentsInterval) {
  const Estimate estimate = MeanOf({1, 2, 3});
  EXPECT_DOUBLE_EQ(estimate.middle, 2);
  EXPECT_NEAR(estimate.high - 2, 4.303 / std::sqrt(3),
              1e-3);  // deviation 1, two degrees of freedom
}

TEST(EstimateTest, MedianOfSevenLiesBetweenItsExtremes) {
  // P(fewer than 1 of 7 on one side) = 1/128: twice that is below 5 %; one more would not be.
  const Estimate estimate = MedianOf({7, 1, 2, 6, 3, 5, 4});
  EXPECT_EQ(estimate.middle, 4);
  EXPECT_EQ(estimate.low, 1);
  EXPECT_EQ(estimate.high, 7);
}

TEST(EstimateTest, MedianOfThirtyOneLeavesNineOut) {
  std::vector<double> values;
  for (int i = 1; i <= 31; ++i) values.push_back(i);
  const Estimate estimate = MedianOf(values);
  EXPECT_EQ(estimate.middle, 16);
  EXPECT_EQ(estimate.low, 10);
  EXPECT_EQ(estimate.high, 22);
}

TEST(EstimateTest, TextShowsAsManyDigitsAsTheIntervalIsWorth) {
  EXPECT_EQ(ToText({82.1234, 81.7234, 82.5234, 5}), "82.12 ± 0.40");
  EXPECT_EQ(ToText({1234.5, 1184.5, 1284.5, 5}), "1234 ± 50");
  EXPECT_EQ(ToText(Estimate::Exact(1.0 / 3)), "0.3333");
  EXPECT_EQ(ShortText(0.65), "0.65");
}

}  // namespace
}  // namespace search::lab
