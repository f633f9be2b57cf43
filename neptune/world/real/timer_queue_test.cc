#include "neptune/world/real/timer_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

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

TEST_F(TimerQueueTest, AnIdIsNotThatOfALaterTimerInItsPlace) {
  const TimerId first = queue_.Add(At(1), Append('a'));
  EXPECT_NE(first, 0u);
  EXPECT_TRUE(queue_.Cancel(first));
  const TimerId second = queue_.Add(At(1), Append('b'));
  EXPECT_NE(second, first);
  EXPECT_FALSE(queue_.Cancel(first));
  EXPECT_FALSE(queue_.Cancel(0));
  RunDue(At(1));
  EXPECT_EQ(ran_, "b");
  EXPECT_FALSE(queue_.Cancel(second));
}

TEST_F(TimerQueueTest, ATaskThatIsDestroyedMayUseTheQueue) {
  const auto add = [this](void*) { queue_.Add(At(2), Append('e')); };
  std::shared_ptr<void> held(this, add);
  EXPECT_TRUE(queue_.Cancel(queue_.Add(At(1), [held = std::move(held)] {})));
  RunDue(At(2));
  EXPECT_EQ(ran_, "e");
}

TEST_F(TimerQueueTest, RunsAsASortedListDoes) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    TimerQueue queue;
    std::map<std::pair<TimePoint, int>, TimerId> expected;
    std::vector<int> ran;
    std::vector<int> expected_ran;
    for (int i = 0; i < 3000; ++i) {
      const TimePoint when = At(static_cast<int>(random() % 1000) + i);
      expected[{when, i}] = queue.Add(when, [&ran, i] { ran.push_back(i); });
      if (random() % 3 == 0) {
        const auto cancelled =
            std::next(expected.begin(), static_cast<long>(random() % expected.size()));
        EXPECT_TRUE(queue.Cancel(cancelled->second)) << "seed " << seed;
        expected.erase(cancelled);
      }
      EXPECT_EQ(queue.live_count(), expected.size()) << "seed " << seed;
      while (!expected.empty() && expected.begin()->first.first <= At(i)) {
        expected_ran.push_back(expected.begin()->first.second);
        expected.erase(expected.begin());
      }
      while (auto task = queue.PopDue(At(i))) (*task)();
      EXPECT_EQ(queue.NextTime(), expected.empty() ? kNever : expected.begin()->first.first);
    }
    EXPECT_EQ(ran, expected_ran) << "seed " << seed;
  }
}

}  // namespace
}  // namespace neptune
