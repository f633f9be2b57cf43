// The termination threshold over throughput loss, and how loss is measured.

#include "neptune/sert/termination_threshold.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include "neptune/world/random_source.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TimePoint At(int64_t ms) { return TimePoint(milliseconds(ms)); }

constexpr ThresholdOptions kOptions = {.lower_bound = seconds(1),
                                       .upper_bound = seconds(11),
                                       .low_watermark = 0.1,
                                       .high_watermark = 0.5};

TEST(ThresholdAtTest, FallsFromTheUpperToTheLowerBoundBetweenTheWatermarks) {
  EXPECT_EQ(ThresholdAt(kOptions, 0), seconds(11));
  EXPECT_EQ(ThresholdAt(kOptions, 0.1), seconds(11));
  EXPECT_EQ(ThresholdAt(kOptions, 0.3), seconds(6));
  EXPECT_EQ(ThresholdAt(kOptions, 0.4), milliseconds(3500));
  EXPECT_EQ(ThresholdAt(kOptions, 0.5), seconds(1));
  EXPECT_EQ(ThresholdAt(kOptions, 1), seconds(1));
}

TEST(ThresholdAtTest, AlphaBendsIt) {
  ThresholdOptions options = kOptions;
  options.alpha = 2;
  EXPECT_EQ(ThresholdAt(options, 0.3), milliseconds(3500));
  options.alpha = 0.5;
  EXPECT_NEAR(ToSeconds(ThresholdAt(options, 0.4)), 1 + 10 * std::sqrt(0.25), 1e-6);
}

TEST(ThresholdAtTest, IsWithinTheBoundsAndNeverRises) {
  for (const double alpha : {0.1, 1.0, 3.0}) {
    ThresholdOptions options = kOptions;
    options.alpha = alpha;
    Duration before = options.upper_bound;
    for (int percent = -10; percent <= 110; ++percent) {
      const Duration threshold = ThresholdAt(options, percent / 100.0);
      EXPECT_LE(threshold, before);
      EXPECT_GE(threshold, options.lower_bound);
      before = threshold;
    }
  }
}

TEST(ThresholdOptionsTest, WhatCannotBeIsRefused) {
  EXPECT_EQ(FaultOf(ThresholdOptions()), nullptr);
  EXPECT_EQ(FaultOf(kOptions), nullptr);
  const auto refused = [](auto change) {
    ThresholdOptions options = kOptions;
    change(options);
    return FaultOf(options) != nullptr;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(refused([](ThresholdOptions& o) { o.lower_bound = Duration(0); }));
  EXPECT_TRUE(refused([](ThresholdOptions& o) { o.upper_bound = milliseconds(999); }));
  EXPECT_TRUE(refused([](ThresholdOptions& o) { o.low_watermark = -0.1; }));
  EXPECT_TRUE(refused([](ThresholdOptions& o) { o.low_watermark = 0.5; }));
  EXPECT_TRUE(refused([](ThresholdOptions& o) { o.high_watermark = 1.1; }));
  EXPECT_TRUE(refused([&](ThresholdOptions& o) { o.high_watermark = nan; }));
  EXPECT_TRUE(refused([](ThresholdOptions& o) { o.alpha = 0; }));
  EXPECT_TRUE(refused([&](ThresholdOptions& o) { o.alpha = nan; }));
  EXPECT_TRUE(refused([](ThresholdOptions& o) { o.window = Duration(1); }));
}

TEST(ThroughputLossTest, IsTheShareOfTheWindow) {
  ThroughputLoss loss(seconds(16));
  EXPECT_EQ(loss.Share(At(0)), 0);
  for (int i = 0; i < 3; ++i) loss.OnServed(At(100));
  loss.OnLost(At(5000));
  EXPECT_DOUBLE_EQ(loss.Share(At(6000)), 0.25);
  // The served ones are older than the window.
  EXPECT_DOUBLE_EQ(loss.Share(At(16'500)), 1);
  EXPECT_EQ(loss.Share(At(21'500)), 0);
}

TEST(ThroughputLossTest, TimeThatGoesBackCountsAsTheNewest) {
  ThroughputLoss loss(seconds(16));
  loss.OnServed(At(10'000));
  loss.OnLost(At(1));
  EXPECT_DOUBLE_EQ(loss.Share(At(10'000)), 0.5);
}

// Beside the obvious: all events, of which those in the newest slices count.
TEST(ThroughputLossTest, EqualsACountOverAllEvents) {
  constexpr uint64_t kSeed = 20;
  RandomSource random(kSeed);
  constexpr Duration kWindow = seconds(2);
  constexpr Duration kSlice = kWindow / kLossSliceCount;
  ThroughputLoss loss(kWindow);
  std::deque<std::pair<int64_t, bool>> events;  // slice, lost
  TimePoint now = At(123'456);
  for (int i = 0; i < 20'000; ++i) {
    now += FromSeconds(random.Exponential(random.Below(100) == 0 ? 1.5 : 0.01));
    const int64_t slice = now.time_since_epoch() / kSlice;
    const bool lost = random.Below(3) == 0;
    lost ? loss.OnLost(now) : loss.OnServed(now);
    events.emplace_back(slice, lost);
    double all = 0;
    double gone = 0;
    for (const auto& [at, was_lost] : events) {
      if (at <= slice - static_cast<int64_t>(kLossSliceCount)) continue;
      ++all;
      gone += was_lost ? 1 : 0;
    }
    ASSERT_DOUBLE_EQ(loss.Share(now), gone / all) << "event " << i << ", seed " << kSeed;
    if (events.size() > 500) events.pop_front();
  }
}

TEST(TerminationThresholdTest, FallsUnderLossAndRisesAfterIt) {
  TerminationThreshold threshold(kOptions);
  EXPECT_EQ(threshold.Now(At(0)), seconds(11));
  for (int i = 0; i < 70; ++i) threshold.OnServed(At(1000));
  for (int i = 0; i < 30; ++i) threshold.OnLost(At(1000));
  EXPECT_DOUBLE_EQ(threshold.Loss(At(1000)), 0.3);
  EXPECT_EQ(threshold.Now(At(1000)), seconds(6));
  EXPECT_EQ(threshold.Now(At(4000)), seconds(11));
}

}  // namespace
}  // namespace neptune
