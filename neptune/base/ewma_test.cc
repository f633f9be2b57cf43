#include "neptune/base/ewma.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::seconds;

TimePoint At(double when_seconds) { return TimePoint(FromSeconds(when_seconds)); }

TEST(EwmaTest, FirstSampleIsTakenWhole) {
  Ewma average(0.1);
  EXPECT_EQ(average.ValueOr(7), 7);
  average.Add(100);
  EXPECT_EQ(average.value(), 100);
  EXPECT_EQ(average.ValueOr(7), 100);
}

TEST(EwmaTest, FirstSamplesCountAlikeAndLaterOnesByWeight) {
  Ewma average(0.25);
  for (const double sample : {100, 200, 150, 50}) average.Add(sample);
  EXPECT_DOUBLE_EQ(average.value(), 125);
  average.Add(225);
  EXPECT_DOUBLE_EQ(average.value(), 150);
  average.Add(50);
  EXPECT_DOUBLE_EQ(average.value(), 125);
  EXPECT_EQ(average.count(), 6u);
}

TEST(DecayedCounterTest, OldPartsFade) {
  DecayedCounter counter(0.95);
  counter.Add(100, At(1));
  EXPECT_DOUBLE_EQ(counter.Value(At(1)), 100);
  EXPECT_DOUBLE_EQ(counter.Value(At(2)), 95);
  counter.Add(5, At(2));
  EXPECT_NEAR(counter.Value(At(4)), 100 * 0.95 * 0.95, 1e-9);
}

TEST(DecayedCounterTest, HalfLifeHalves) {
  DecayedCounter counter = DecayedCounter::WithHalfLife(seconds(10));
  counter.Add(8, At(0));
  EXPECT_NEAR(counter.Value(At(30)), 1, 1e-9);
}

TEST(DecayedCounterTest, TimeThatGoesBackIsTheNewestSeen) {
  DecayedCounter counter(0.5);
  counter.Add(4, At(10));
  counter.Add(4, At(5));
  EXPECT_DOUBLE_EQ(counter.Value(At(3)), 8);
  EXPECT_DOUBLE_EQ(counter.Value(At(11)), 4);
}

TEST(DecayedCounterTest, SteadyRateIsEstimated) {
  DecayedCounter counter(0.95);
  for (int i = 0; i < 40'000; ++i) counter.Add(1, At(i * 0.01));
  EXPECT_NEAR(counter.Value(At(400)) / counter.MeanAgeSeconds(), 100, 1);
}

}  // namespace
}  // namespace neptune
