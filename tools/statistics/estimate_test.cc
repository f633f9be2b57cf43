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

TEST(EstimateTest, SmallerShareOfMissesWidensTheInterval) {
  // Student's t with four degrees of freedom reaches to 2.776 for 5 % and to 4.604 for 1 %.
  const Estimate usual = MeanOf({1, 2, 3, 4, 5});
  const Estimate strict = MeanOf({1, 2, 3, 4, 5}, 0.01);
  EXPECT_NEAR((strict.high - 3) / (usual.high - 3), 4.604 / 2.776, 1e-3);
  EXPECT_TRUE(MedianOf({1, 2, 3, 4, 5, 6, 7}, 0.01).too_few) << "2 of 128 ways miss it";
}

TEST(EstimateTest, FewRunsHaveNoInterval) {
  EXPECT_FALSE(MeanOf({3}).has_interval());
  EXPECT_TRUE(MeanOf({3, 4}).has_interval());
  EXPECT_FALSE(MedianOf({1, 2, 3, 4, 5}).has_interval());
  EXPECT_TRUE(MedianOf({1, 2, 3, 4, 5, 6}).has_interval());
  EXPECT_FALSE(MeanOf({}).has_interval());
  EXPECT_TRUE(Estimate::Exact(3).has_interval());
  EXPECT_TRUE(LargestOf({0}).has_interval()) << "a statement about this run";
  EXPECT_EQ(LargestOf({0, 2, 1}).middle, 2);
  EXPECT_EQ(LargestOf({0, 2, 1}).count, 3);
}

TEST(EstimateTest, NegativeFactorExchangesTheEnds) {
  const Estimate less = Scaled({0.8, 0.7, 0.9, 5}, -100, 100);
  EXPECT_DOUBLE_EQ(less.middle, 20);
  EXPECT_DOUBLE_EQ(less.low, 10);
  EXPECT_DOUBLE_EQ(less.high, 30);
  EXPECT_EQ(less.count, 5);
}

TEST(EstimateTest, RatioHasNoMoreRunsThanItsBaseline) {
  const Estimate many = MeanOf({2, 2.1, 1.9, 2, 2});
  const Estimate ratio = RatioOf(many, MeanOf({1}));
  EXPECT_EQ(ratio.count, 1);
  EXPECT_FALSE(ratio.has_interval());
  const Estimate both = RatioOf(many, MeanOf({1, 1.1, 0.9}));
  EXPECT_EQ(both.count, 3);
  EXPECT_TRUE(both.has_interval());
  EXPECT_LT(both.low, 2 / 1.1);
  EXPECT_TRUE(std::isinf(RatioOf(many, MeanOf({1, -1, 3})).high));
  EXPECT_EQ(RatioOf(many, Estimate::Exact(2)).count, 5);
}

TEST(EstimateTest, JackknifeOfAMeanIsItsInterval) {
  const std::vector<double> values = {1, 2, 4, 8, 16};
  const Estimate jackknife = JackknifeOf(5, [&](int left_out) {
    double sum = 0;
    for (int i = 0; i < 5; ++i) sum += i == left_out ? 0 : values[static_cast<size_t>(i)];
    return sum / (left_out < 0 ? 5 : 4);
  });
  const Estimate mean = MeanOf(values);
  EXPECT_NEAR(jackknife.middle, mean.middle, 1e-12);
  EXPECT_NEAR(jackknife.low, mean.low, 1e-9);
  EXPECT_NEAR(jackknife.high, mean.high, 1e-9);
  EXPECT_FALSE(JackknifeOf(1, [](int) { return 1.0; }).has_interval());
}

TEST(EstimateTest, TextShowsAsManyDigitsAsTheIntervalIsWorth) {
  EXPECT_EQ(ToText({82.1234, 81.7234, 82.5234, 5}), "82.12 ± 0.40");
  EXPECT_EQ(ToText({1234.5, 1184.5, 1284.5, 5}), "1234 ± 50");
  EXPECT_EQ(ToText(Estimate::Exact(1.0 / 3)), "0.3333");
  EXPECT_EQ(ShortText(0.65), "0.65");
}

}  // namespace
}  // namespace search::lab
