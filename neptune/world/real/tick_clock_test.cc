#include "neptune/world/real/tick_clock.h"

#include <gtest/gtest.h>

#include <random>

namespace neptune {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// A machine whose counter makes `ticks_per_us` ticks a microsecond.
class TickClockTest : public testing::Test {
 protected:
  uint64_t Ticks() const {
    return offset_ + static_cast<uint64_t>(now_.time_since_epoch().count()) * ticks_per_us_ / 1000;
  }
  void Pass(Duration time) { now_ += time; }
  TimePoint Read() {
    if (const auto now = clock_.Read(Ticks())) return *now;
    ++reading_count_;
    return clock_.Set(Ticks(), now_, Ticks());
  }
  // Reads every 100 us for as long as a tick is measured.
  void Warm() {
    for (int i = 0; i < 300; ++i) {
      Pass(microseconds(100));
      (void)Read();
    }
    reading_count_ = 0;
  }

  uint64_t ticks_per_us_ = 2450;
  uint64_t offset_ = 77;
  TimePoint now_{std::chrono::hours(100)};
  TickClock clock_;
  int reading_count_ = 0;
};

TEST_F(TickClockTest, ReadsTheSystemsClockUntilATickIsMeasured) {
  for (int i = 1; i <= 10; ++i) {
    EXPECT_EQ(Read(), now_);
    EXPECT_EQ(reading_count_, i);
    Pass(milliseconds(1));
  }
}

TEST_F(TickClockTest, AfterwardsReadsItOnceASpan) {
  Warm();
  for (int i = 0; i < 10'000; ++i) {
    Pass(microseconds(1));
    EXPECT_LE(now_ - Read(), Duration(10));
    EXPECT_LE(Read() - now_, Duration(10));
  }
  EXPECT_LE(reading_count_, 11);
  EXPECT_GE(reading_count_, 9);
}

TEST_F(TickClockTest, MeasuresEveryRate) {
  for (const uint64_t rate : {10, 100, 1000, 3200, 9999}) {
    clock_ = TickClock();
    ticks_per_us_ = rate;
    Warm();
    for (int i = 0; i < 2000; ++i) {
      Pass(Duration(777));
      const Duration error = now_ - Read();
      EXPECT_LE(error, Duration(150)) << rate;  // a tick of 100 ns, and a half
      EXPECT_GE(error, Duration(-150)) << rate;
    }
    EXPECT_LT(reading_count_, 10) << rate;
  }
}

TEST_F(TickClockTest, ACounterThatDoesNotCountTimeIsNotUsed) {
  for (const uint64_t rate : {0, 1, 50'000}) {
    clock_ = TickClock();
    ticks_per_us_ = rate;
    Warm();
    for (int i = 0; i < 100; ++i) {
      Pass(milliseconds(2));
      EXPECT_EQ(Read(), now_) << rate;
    }
  }
}

TEST_F(TickClockTest, ReadingsThatDoNotBelongTogetherBeginNoSpan) {
  Warm();
  Pass(milliseconds(5));
  EXPECT_EQ(clock_.Read(Ticks()), std::nullopt);
  EXPECT_EQ(clock_.Set(Ticks(), now_, Ticks() + 1'000'000), now_);
  EXPECT_EQ(clock_.Read(Ticks() + 1'000'001), std::nullopt);
}

TEST_F(TickClockTest, NeverDecreases) {
  std::mt19937_64 random(4711);
  TimePoint latest{};
  Warm();
  for (int i = 0; i < 100'000; ++i) {
    now_ += Duration(static_cast<int64_t>(random() % 20'000));
    if (random() % 100 == 0) offset_ += random() % 2'000'000 - 1'000'000;  // another processor
    if (random() % 1000 == 0) now_ -= microseconds(3);
    const TimePoint read = Read();
    EXPECT_GE(read, latest) << "seed 4711, reading " << i;
    latest = read;
  }
}

TEST_F(TickClockTest, AJumpOfTheCounterIsOverAfterASpan) {
  Warm();
  offset_ += 1'000'000;  // 0.4 ms
  Pass(microseconds(10));
  EXPECT_LE(Read() - now_, TickClock::kSpan);
  Pass(TickClock::kSpan);
  EXPECT_EQ(Read(), now_);
}

}  // namespace
}  // namespace neptune
