#include "neptune/scheduling/class_consumption.h"

#include <gtest/gtest.h>

#include <cmath>

#include "neptune/world/random_source.h"

namespace neptune {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TimePoint At(double when_s) { return TimePoint(FromSeconds(when_s)); }

TEST(ClassConsumptionTest, FollowsTheClosedForm) {
  RandomSource random(3);
  ClassConsumption consumption(3);
  struct Completed {
    size_t service_class;
    double amount;
    double at_s;
  };
  std::vector<Completed> all;
  double now_s = 1000;
  for (int i = 0; i < 2000; ++i) {
    now_s += random.Exponential(0.7);
    all.push_back({random.Below(3), random.Exponential(0.2), now_s});
    consumption.Add(all.back().service_class, all.back().amount, At(now_s));
  }
  double expected[3] = {};
  double sum = 0;
  const double later_s = now_s + 4;
  for (const Completed& one : all) {
    const double part = one.amount * std::pow(0.95, later_s - one.at_s);
    expected[one.service_class] += part;
    sum += part;
  }
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(consumption.Value(k, At(later_s)), expected[k], 1e-9 * sum);
    EXPECT_NEAR(consumption.Share(k), expected[k] / sum, 1e-9);
  }
}

TEST(ClassConsumptionTest, ASecondOldCountsNinetyFivePercent) {
  ClassConsumption consumption(1);
  consumption.Add(0, 100, At(5));
  EXPECT_NEAR(consumption.Value(0, At(6)), 95, 1e-9);
}

TEST(ClassConsumptionTest, SharesAreZeroAtFirst) {
  ClassConsumption consumption(2);
  EXPECT_EQ(consumption.Share(0), 0);
  consumption.Add(0, 3, At(1));
  consumption.Add(1, 1, At(1));
  EXPECT_DOUBLE_EQ(consumption.Share(0), 0.75);
  EXPECT_DOUBLE_EQ(consumption.Share(1), 0.25);
}

TEST(ClassConsumptionTest, LastsThroughLongIdlenessAndTimeThatGoesBack) {
  ClassConsumption consumption(2);
  consumption.Add(0, 5, At(10));
  consumption.Add(1, 5, At(10) + hours(24 * 365));
  EXPECT_LT(consumption.Share(0), 1e-12);
  EXPECT_DOUBLE_EQ(consumption.Share(1), 1);
  consumption.Add(0, 5, At(10));
  EXPECT_DOUBLE_EQ(consumption.Share(0), 0.5);
  consumption.Add(0, -7, At(10) + hours(24 * 365));
  EXPECT_DOUBLE_EQ(consumption.Share(0), 0.5);
}

}  // namespace
}  // namespace neptune
