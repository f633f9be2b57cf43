#include "neptune/thread/stretch_clock.h"

#include <glog/logging.h>
#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::microseconds;

// A kernel thread that works, or waits while others use its processor.
class FakeLoop final : public Loop {
 public:
  void Work(int64_t us) {
    now_ += microseconds(us);
    processor_time_ += microseconds(us);
  }
  void Interrupt(int64_t us) { now_ += microseconds(us); }
  int asked() const { return asked_; }

  TimePoint Now() const override { return now_; }
  Duration ProcessorTime() const override {
    ++asked_;
    return processor_time_;
  }
  void Post(Task) override { LOG(FATAL) << "only the clocks are read"; }
  TimerId RunAt(TimePoint, Task) override { LOG(FATAL) << "only the clocks are read"; }
  bool CancelTimer(TimerId) override { LOG(FATAL) << "only the clocks are read"; }
  Network& network() override { LOG(FATAL) << "only the clocks are read"; }
  RandomSource& random() override { LOG(FATAL) << "only the clocks are read"; }
  void FillUnpredictable(char*, size_t) override { LOG(FATAL) << "only the clocks are read"; }

 private:
  TimePoint now_ = TimePoint(std::chrono::hours(1));
  Duration processor_time_{microseconds(12'345)};
  mutable int asked_ = 0;
};

class StretchClockTest : public testing::Test {
 protected:
  FakeLoop loop_;
  StretchClock clock_{loop_};
};

TEST_F(StretchClockTest, ShortStretchesCostHardlyAnySystemCalls) {
  Duration used{0};
  for (int i = 0; i < 1000; ++i) {
    clock_.Begin();
    loop_.Work(1);
    used += clock_.Used();
    loop_.Work(1);  // work of another thread
  }
  EXPECT_EQ(used, microseconds(1000));
  EXPECT_LE(loop_.asked(), 2000 / 400 + 1);
}

TEST_F(StretchClockTest, LongStretchExcludesTimeOfOtherPrograms) {
  clock_.Begin();
  loop_.Work(300);
  loop_.Interrupt(5'000);
  loop_.Work(300);
  EXPECT_EQ(clock_.Used(), microseconds(600));
}

TEST_F(StretchClockTest, CountsAtMostFourTenthsOfAMillisecondTooMuch) {
  clock_.Begin();
  clock_.Used();
  loop_.Work(399);  // work of another thread, unknown to the clock
  clock_.Begin();
  loop_.Work(300);
  loop_.Interrupt(5'000);
  EXPECT_EQ(clock_.Used(), microseconds(699));
}

TEST_F(StretchClockTest, WaitBetweenStretchesDoesNotCount) {
  clock_.Begin();
  loop_.Work(30);
  EXPECT_EQ(clock_.Used(), microseconds(30));
  loop_.Interrupt(50);  // waits for events
  clock_.Begin();
  loop_.Work(30);
  EXPECT_EQ(clock_.Used(), microseconds(30));
}

TEST_F(StretchClockTest, ReadsOfOneStretchNeverDecrease) {
  clock_.Begin();
  loop_.Work(10);
  loop_.Interrupt(9);
  EXPECT_EQ(clock_.Used(), microseconds(19));
  loop_.Interrupt(2);
  EXPECT_EQ(clock_.Used(), microseconds(19));
  loop_.Work(20);
  EXPECT_EQ(clock_.Used(), microseconds(30));
}

TEST_F(StretchClockTest, StretchBeginsAtZeroAfterALongOne) {
  clock_.Begin();
  loop_.Work(1'000);
  EXPECT_EQ(clock_.Used(), microseconds(1'000));
  clock_.Begin();
  EXPECT_EQ(clock_.Used(), microseconds(0));
}

}  // namespace
}  // namespace neptune
