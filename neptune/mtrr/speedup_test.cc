#include "neptune/mtrr/speedup.h"

#include <gtest/gtest.h>

#include <cmath>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

std::vector<ThroughputPoint> Measured(const Speedup& speedup, double rate, int most,
                                      double deviation, RandomSource& random) {
  std::vector<ThroughputPoint> points;
  for (int threads = 1; threads <= most; ++threads) {
    const double error = 1 + deviation * (2 * random.Uniform() - 1);
    points.push_back({threads, rate * speedup.At(threads) * error});
  }
  return points;
}

TEST(SpeedupTest, IsLinearUntilItIsSaturated) {
  const Speedup speedup = *Speedup::Make(0.14, 23);
  EXPECT_DOUBLE_EQ(speedup.At(1), 1);
  EXPECT_DOUBLE_EQ(speedup.At(11), 2.4);
  EXPECT_DOUBLE_EQ(speedup.At(23), 4.08);
  EXPECT_DOUBLE_EQ(speedup.At(100), 4.08);
  EXPECT_DOUBLE_EQ(Speedup().At(7), 1);
}

TEST(SpeedupTest, FitFindsWhatWasMeasured) {
  RandomSource random(1);
  for (const double alpha : {0.05, 0.14, 0.5, 1.0}) {
    for (const int saturation : {2, 8, 23}) {
      SCOPED_TRACE(StrCat("alpha ", alpha, ", saturation ", saturation));
      const Speedup truth = *Speedup::Make(alpha, saturation);
      const SpeedupFit exact = *FitSpeedup(Measured(truth, 50, 40, 0, random));
      EXPECT_NEAR(exact.speedup.alpha(), alpha, 1e-9);
      EXPECT_EQ(exact.speedup.saturation_point(), saturation);
      EXPECT_NEAR(exact.service_rate, 50, 1e-6);
      EXPECT_LT(exact.error_max, 1e-9);
      const SpeedupFit noisy = *FitSpeedup(Measured(truth, 50, 40, 0.03, random));
      for (int threads = 1; threads <= 40; ++threads) {
        const double expected = 50 * truth.At(threads);
        EXPECT_NEAR(noisy.service_rate * noisy.speedup.At(threads), expected, 0.04 * expected);
      }
    }
  }
}

TEST(SpeedupTest, MissingSpeedupIsFittedAsNone) {
  const SpeedupFit fit = *FitSpeedup({{1, 40}, {2, 40}, {4, 39}, {8, 40}});
  EXPECT_NEAR(fit.speedup.At(8), 1, 0.03);
  EXPECT_NEAR(fit.service_rate, 40, 1);
}

TEST(SpeedupTest, SuperlinearSpeedupIsCutToLinear) {
  const SpeedupFit fit = *FitSpeedup({{1, 40}, {2, 100}, {3, 130}});
  EXPECT_EQ(fit.speedup.alpha(), 1);
}

TEST(SpeedupTest, CollapseIsLeftOut) {
  RandomSource random(1);
  std::vector<ThroughputPoint> points = Measured(*Speedup::Make(0.2, 10), 50, 30, 0, random);
  for (ThroughputPoint& point : points) {
    if (point.threads >= 25) point.throughput /= 4;
  }
  const SpeedupFit fit = *FitSpeedup(points);
  EXPECT_EQ(fit.collapse_point, 25);
  EXPECT_EQ(fit.speedup.saturation_point(), 10);
  EXPECT_LT(fit.error_max, 1e-9);
}

TEST(SpeedupTest, CollapseWithTheSecondThreadLeavesNoSpeedup) {
  const SpeedupFit fit = *FitSpeedup({{1, 50}, {2, 30}, {4, 39}});
  EXPECT_EQ(fit.collapse_point, 2);
  EXPECT_DOUBLE_EQ(fit.service_rate, 50);
  EXPECT_DOUBLE_EQ(fit.speedup.At(4), 1);
  EXPECT_DOUBLE_EQ(fit.error_max, 0);
}

TEST(SpeedupTest, FewestThreadsReachNearlyTheBestThroughput) {
  const std::vector<ThroughputPoint> points = {{1, 40}, {2, 70}, {4, 98}, {8, 100}, {16, 99}};
  EXPECT_EQ(FewestThreads(points), 4);
  EXPECT_EQ(FewestThreads(points, 0.99), 8);
  EXPECT_EQ(FewestThreads(points, 0.5), 2);
  EXPECT_EQ(FewestThreads({{16, 10}, {4, 10}, {8, 10}}), 4) << "in any order";
}

TEST(SpeedupTest, RefusesInvalidMeasurements) {
  EXPECT_FALSE(FitSpeedup({}).ok());
  EXPECT_FALSE(FitSpeedup({{1, 50}}).ok());
  EXPECT_FALSE(FitSpeedup({{2, 50}, {3, 60}}).ok());
  EXPECT_FALSE(FitSpeedup({{1, 50}, {2, 0}}).ok());
  EXPECT_FALSE(FitSpeedup({{1, 50}, {2, -1}}).ok());
  EXPECT_FALSE(FitSpeedup({{1, 50}, {2, std::nan("")}}).ok());
  EXPECT_FALSE(FitSpeedup({{0, 50}, {1, 60}, {2, 70}}).ok());
  EXPECT_FALSE(Speedup::Make(1.1, 3).ok());
  EXPECT_FALSE(Speedup::Make(-0.1, 3).ok());
  EXPECT_FALSE(Speedup::Make(0.5, 0).ok());
}

}  // namespace
}  // namespace neptune
