#include "neptune/capsule/recent_times.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

TEST(RecentTimesTest, QuantileCoversOnlyTheLatestTimes) {
  RecentTimes times;
  EXPECT_EQ(times.Quantile(0.95), Duration(0));
  for (int i = 0; i < 1000; ++i) times.Add(Duration(1'000'000));
  for (int i = 1; i <= 256; ++i) times.Add(Duration(i));
  EXPECT_EQ(times.Quantile(0), Duration(1));
  EXPECT_EQ(times.Quantile(0.5), Duration(129));
  EXPECT_EQ(times.Quantile(0.95), Duration(244));
  EXPECT_EQ(times.Quantile(1), Duration(256));
}

TEST(RecentTimesTest, FewTimesAreTakenAsTheyAre) {
  RecentTimes times;
  times.Add(Duration(5));
  times.Add(Duration(3));
  EXPECT_EQ(times.Quantile(0.4), Duration(3));
  EXPECT_EQ(times.Quantile(0.95), Duration(5));
}

}  // namespace
}  // namespace neptune
