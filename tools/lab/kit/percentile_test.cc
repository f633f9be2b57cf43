#include "tools/lab/kit/percentile.h"

#include <gtest/gtest.h>

#include <chrono>

namespace search::lab {
namespace {

using std::chrono::milliseconds;

TEST(PercentileTest, IsTheValueOfTheNearestRank) {
  const std::vector<neptune::Duration> times = {milliseconds(40), milliseconds(10),
                                                milliseconds(30), milliseconds(20)};
  EXPECT_EQ(PercentileMs(times, 0), 10);
  EXPECT_EQ(PercentileMs(times, 0.25), 10);
  EXPECT_EQ(PercentileMs(times, 0.26), 20);
  EXPECT_EQ(PercentileMs(times, 0.5), 20);
  EXPECT_EQ(PercentileMs(times, 0.99), 40);
  EXPECT_EQ(PercentileMs(times, 1), 40);
  EXPECT_EQ(PercentileMs({}, 0.5), 0);
}

}  // namespace
}  // namespace search::lab
