#include "neptune/scheduling/yield_function.h"

#include <gtest/gtest.h>

#include <limits>

#include "neptune/world/random_source.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(YieldFunctionTest, ThroughputIsAllOrNothing) {
  const YieldFunction yield = *YieldFunction::Throughput(4, seconds(2));
  EXPECT_EQ(yield.At(Duration(0)), 4);
  EXPECT_EQ(yield.At(seconds(2)), 4);
  EXPECT_EQ(yield.At(seconds(2) + nanoseconds(1)), 0);
  EXPECT_EQ(yield.full_until(), seconds(2));
}

TEST(YieldFunctionTest, ResponseTimeFallsFromTheStart) {
  const YieldFunction yield = *YieldFunction::ResponseTime(4, seconds(2));
  EXPECT_EQ(yield.At(Duration(0)), 4);
  EXPECT_DOUBLE_EQ(yield.At(milliseconds(500)), 3);
  EXPECT_EQ(yield.At(seconds(2)), 0);
  EXPECT_EQ(yield.full_until(), Duration(0));
}

TEST(YieldFunctionTest, HybridFallsToTheDropPenalty) {
  const YieldFunction yield = *YieldFunction::Hybrid(4, seconds(1), 2, seconds(2));
  EXPECT_EQ(yield.At(seconds(1)), 4);
  EXPECT_DOUBLE_EQ(yield.At(milliseconds(1500)), 3);
  EXPECT_EQ(yield.At(seconds(2)), 2);
  EXPECT_EQ(yield.At(milliseconds(2001)), 0);
  EXPECT_EQ(yield.full(), 4);
  EXPECT_EQ(yield.deadline(), seconds(2));
  EXPECT_EQ(yield.full_until(), seconds(1));
}

TEST(YieldFunctionTest, TheOthersAreSpecialCasesOfHybrid) {
  const YieldFunction throughput = *YieldFunction::Throughput(3, seconds(2));
  const YieldFunction resptime = *YieldFunction::ResponseTime(3, seconds(2));
  const YieldFunction late = *YieldFunction::Hybrid(3, seconds(2), 3, seconds(2));
  const YieldFunction early = *YieldFunction::Hybrid(3, Duration(0), 0, seconds(2));
  for (int ms = 0; ms < 2500; ms += 7) {
    EXPECT_DOUBLE_EQ(late.At(milliseconds(ms)), throughput.At(milliseconds(ms)));
    EXPECT_DOUBLE_EQ(early.At(milliseconds(ms)), resptime.At(milliseconds(ms)));
  }
}

TEST(YieldFunctionTest, TableHasLinesAndSteps) {
  const YieldFunction yield = *YieldFunction::Table(
      {{milliseconds(100), 8}, {milliseconds(300), 6}, {milliseconds(300), 3}, {seconds(1), 1}});
  EXPECT_EQ(yield.At(milliseconds(100)), 8);
  EXPECT_DOUBLE_EQ(yield.At(milliseconds(200)), 7);
  EXPECT_EQ(yield.At(milliseconds(300)), 6);
  EXPECT_NEAR(yield.At(milliseconds(300) + nanoseconds(1)), 3, 1e-6);
  EXPECT_DOUBLE_EQ(yield.At(milliseconds(650)), 2);
  EXPECT_EQ(yield.At(seconds(1)), 1);
}

TEST(YieldFunctionTest, NeverGrowsAndIsNeverNegative) {
  RandomSource random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<YieldPoint> points;
    Duration response{0};
    double yield = 1 + random.Uniform();
    for (uint64_t i = 0; i <= random.Below(10); ++i) {
      response += milliseconds(random.Below(3));
      points.push_back({response, yield});
      yield *= random.Uniform();
    }
    points.push_back({response + milliseconds(1), 0});
    const YieldFunction function = *YieldFunction::Table(points);
    double before = function.full();
    for (int i = 0; i < 400; ++i) {
      const double now = function.At(i * nanoseconds(100'000));
      ASSERT_GE(before, now);
      ASSERT_GE(now, 0);
      before = now;
    }
  }
}

TEST(YieldFunctionTest, RefusesInvalidYieldFunctions) {
  const auto refused = [](const StatusOr<YieldFunction>& yield) {
    return yield.status().code() == StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused(YieldFunction::Throughput(0, seconds(1))));
  EXPECT_TRUE(refused(YieldFunction::Throughput(-1, seconds(1))));
  EXPECT_TRUE(
      refused(YieldFunction::Throughput(std::numeric_limits<double>::infinity(), seconds(1))));
  EXPECT_TRUE(refused(YieldFunction::Throughput(1, Duration(0))));
  EXPECT_TRUE(refused(YieldFunction::Throughput(1, -seconds(1))));
  EXPECT_TRUE(refused(YieldFunction::Hybrid(1, seconds(2), 0.5, seconds(1))));
  EXPECT_TRUE(refused(YieldFunction::Hybrid(1, seconds(1), 2, seconds(2))));
  EXPECT_TRUE(refused(YieldFunction::Table({})));
  EXPECT_TRUE(refused(YieldFunction::Table({{seconds(1), 1}, {seconds(2), 2}})));
  EXPECT_TRUE(refused(YieldFunction::Table({{seconds(2), 2}, {seconds(1), 1}})));
  std::vector<YieldPoint> many;
  for (size_t i = 0; i <= kYieldPointCountMax; ++i) many.push_back({milliseconds(1 + i), 1});
  EXPECT_TRUE(refused(YieldFunction::Table(many)));
}

TEST(YieldFunctionTest, TheLatestTimeOverAYieldIsExact) {
  const YieldFunction hybrid = *YieldFunction::Hybrid(4, milliseconds(500), 2, seconds(1));
  for (const double yield : {0.0, 1.0, 2.0, 2.5, 3.999}) {
    const Duration latest = hybrid.LatestOver(yield).value();
    EXPECT_GT(hybrid.At(latest), yield);
    EXPECT_LE(hybrid.At(latest + Duration(1)), yield);
  }
  EXPECT_EQ(hybrid.LatestOver(0), seconds(1));
  EXPECT_FALSE(hybrid.LatestOver(4).has_value());
}

}  // namespace
}  // namespace neptune
