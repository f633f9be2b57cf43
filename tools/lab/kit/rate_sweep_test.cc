#include "tools/lab/kit/rate_sweep.h"

#include <gtest/gtest.h>

namespace search::lab {
namespace {

// Rates 10, 20, 30 of two schemes with two seeds each; "b" answers in twice the time.
Results Measured() {
  Results results(Length::kFull);
  const double full[] = {100, 99, 79};
  for (const std::string scheme : {"b", "a"}) {
    for (const int i : {2, 0, 1}) {
      const Point point = Point{{"scheme", scheme}}.Set("rate", 10.0 * (i + 1));
      for (const double seed : {1.0, 2.0}) {
        results.Add(point, {{"full", full[i]}, {"ms", (scheme == "a" ? 1 : 2) * seed * (i + 1)}});
      }
    }
  }
  return results;
}

class RateSweepTest : public testing::Test {
 protected:
  const Results results_ = Measured();
  const RateSweep a_{results_, Point{{"scheme", "a"}, {"rate", "0"}}, "rate"};
  const RateSweep b_{results_, Point{{"scheme", "b"}, {"rate", "0"}}, "rate"};
};

TEST_F(RateSweepTest, LastRateLiesWhereTheLineIsCrossed) {
  EXPECT_DOUBLE_EQ(a_.LastRateWith("full", 98), 20.5);
  EXPECT_DOUBLE_EQ(a_.LastRateWith("full", 79), 30);
  EXPECT_DOUBLE_EQ(a_.LastRateWith("full", 101), 10);
}

TEST_F(RateSweepTest, ValuesBetweenRatesAreOnALine) {
  EXPECT_EQ(a_.At("ms", 25), (std::vector<double>{2.5, 5}));
  EXPECT_EQ(a_.At("ms", 20), (std::vector<double>{2, 4}));
}

TEST_F(RateSweepTest, ValuesBeyondTheEndsStay) {
  EXPECT_EQ(a_.At("ms", 1), (std::vector<double>{1, 2}));
  EXPECT_EQ(a_.At("ms", 99), (std::vector<double>{3, 6}));
}

TEST_F(RateSweepTest, RatiosAreTakenSeedBySeed) {
  const Estimate ratio = RatioAt(b_, a_, "ms", 12);
  EXPECT_DOUBLE_EQ(ratio.middle, 2);
  EXPECT_DOUBLE_EQ(ratio.low, 2);
}

TEST_F(RateSweepTest, BestIsTheLargestMean) {
  EXPECT_DOUBLE_EQ(a_.Best("ms").middle, 4.5);
  EXPECT_EQ(a_.SeriesOf("name", "ms").dots.size(), 3u);
}

}  // namespace
}  // namespace search::lab
