#include "frontend/policy/skip_forecast.h"

#include <gtest/gtest.h>

namespace search::frontend {
namespace {

TEST(SkipForecastTest, KnowsNothingAtFirst) {
  EXPECT_EQ(SkipForecast().SkipShare(1), 0.5);
  EXPECT_EQ(SkipForecast().SkipShare(100), 0.5);
}

TEST(SkipForecastTest, LearnsByNumberOfWords) {
  SkipForecast forecast;
  for (int i = 0; i < 100; ++i) {
    forecast.Record(1, true);
    forecast.Record(3, false);
  }
  EXPECT_GT(forecast.SkipShare(1), 0.95);
  EXPECT_LT(forecast.SkipShare(3), 0.05);
  EXPECT_EQ(forecast.SkipShare(2), 0.5);
}

TEST(SkipForecastTest, LongQueriesAndNoneHaveAClass) {
  SkipForecast forecast;
  for (int i = 0; i < 100; ++i) forecast.Record(40, true);
  EXPECT_GT(forecast.SkipShare(1000), 0.95);
  for (int i = 0; i < 100; ++i) forecast.Record(0, false);
  EXPECT_LT(forecast.SkipShare(0), 0.05);
  EXPECT_EQ(forecast.SkipShare(1), 0.5);
}

TEST(SkipForecastTest, FollowsAChange) {
  SkipForecast forecast;
  for (int i = 0; i < 100'000; ++i) forecast.Record(1, true);
  for (int i = 0; i < 1'000; ++i) forecast.Record(1, false);
  EXPECT_LT(forecast.SkipShare(1), 0.05);
}

}  // namespace
}  // namespace search::frontend
