#include "neptune/world/real/timer_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace neptune {
namespace {

TimePoint At(int ns) { return TimePoint(Duration(ns)); }

class TimerQueueTest : public testing::Test {
 protected:
  Task Append(char c) {
    return [this, c] { ran_ += c; };
  }
  void RunDue(TimePoint now) {
    while (auto task = queue_.PopDue(now)) (*task)();
  }
  TimerQueue queue_;
  std::string ran_;
};

TEST_F(TimerQueueTest, RunsInOrderOfTimeThenOfMaking) {
  queue_.Add(At(3), Append('d'));
  queue_.Add(At(1), Append('a'));
  queue_.Add(At(2), Append('b'));
  queue_.Add(At(2), Append('c'));
  RunDue(At(2));
  EXPECT_EQ(ran_, "abc");
  EXPECT_EQ(queue_.NextTime(), At(3));
}

TEST_F(TimerQueueTest, CancelledTimerNeitherRunsNorIsNext) {
  const TimerId first = queue_.Add(At(1), Append('a'));
  queue_.Add(At(2), Append('b'));
  EXPECT_TRUE(queue_.Cancel(first));
  EXPECT_FALSE(queue_.Cancel(first));
  EXPECT_EQ(queue_.NextTime(), At(2));
  RunDue(At(5));
  EXPECT_EQ(ran_, "b");
  EXPECT_EQ(queue_.NextTime(), kNever);
}

TEST_F(TimerQueueTest, ManyCancelledTimersAreForgotten) {
  queue_.Add(At(1'000'000), Append('z'));
  for (int i = 0; i < 100'000; ++i) queue_.Cancel(queue_.Add(At(i), Append('x')));
  EXPECT_EQ(queue_.live_count(), 1u);
  RunDue(At(1'000'000));
  EXPECT_EQ(ran_, "z");
}

}  // namespace
}  // namespace neptune
