// The world conformance suite, part 1: loops, timers, posts, processors, the end of a world.

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "neptune/world/random_source.h"
#include "neptune/world/world_conformance.h"

namespace neptune {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST_P(WorldConformanceTest, TimersRunInOrderOfTime) {
  std::vector<int> order;
  Run([&] {
    const TimePoint now = loop().Now();
    loop().RunAt(now + milliseconds(6), [&] { order.push_back(3); });
    loop().RunAt(now + milliseconds(2), [&] { order.push_back(1); });
    loop().RunAt(now + milliseconds(4), [&] { order.push_back(2); });
  });
  ASSERT_TRUE(Until([&] { return order.size() == 3; }));
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST_P(WorldConformanceTest, TimersOfTheSameTimeRunInTheOrderMade) {
  std::vector<int> order;
  std::vector<int> expected;
  Run([&] {
    const TimePoint when = In(milliseconds(2));
    for (int i = 0; i < 100; ++i) {
      expected.push_back(i);
      loop().RunAt(when, [&order, i] { order.push_back(i); });
    }
  });
  ASSERT_TRUE(Until([&] { return order.size() == 100; }));
  EXPECT_EQ(order, expected);
}

TEST_P(WorldConformanceTest, TimerDoesNotRunEarly) {
  TimePoint when;
  TimePoint ran;
  Run([&] {
    when = In(milliseconds(3));
    loop().RunAt(when, [&] { ran = loop().Now(); });
  });
  ASSERT_TRUE(Until([&] { return ran != TimePoint(); }));
  EXPECT_GE(ran, when);
}

TEST_P(WorldConformanceTest, TimerInThePastRunsSoonAndNotInsideTheCall) {
  bool ran = false;
  bool ran_inside = true;
  Run([&] {
    loop().RunAt(In(-milliseconds(5)), [&] { ran = true; });
    ran_inside = ran;
  });
  ASSERT_TRUE(Until([&] { return ran; }));
  EXPECT_FALSE(ran_inside);
}

TEST_P(WorldConformanceTest, CancelledTimerDoesNotRun) {
  bool ran = false;
  Run([&] {
    const TimerId timer = loop().RunAt(In(milliseconds(1)), [&] { ran = true; });
    EXPECT_NE(timer, 0u);
    EXPECT_TRUE(loop().CancelTimer(timer));
    EXPECT_FALSE(loop().CancelTimer(timer));
    EXPECT_FALSE(loop().CancelTimer(0));
  });
  Pass(milliseconds(5));
  Run([&] { EXPECT_FALSE(ran); });
}

TEST_P(WorldConformanceTest, TimerThatRunsOrRanCannotBeCancelled) {
  bool done = false;
  Run([&] {
    auto timer = std::make_shared<TimerId>();
    *timer = loop().RunAt(In(milliseconds(1)), [&, timer] {
      EXPECT_FALSE(loop().CancelTimer(*timer));
      loop().Post([&, timer] {
        EXPECT_FALSE(loop().CancelTimer(*timer));
        done = true;
      });
    });
  });
  EXPECT_TRUE(Until([&] { return done; }));
}

TEST_P(WorldConformanceTest, TimerCancelsAnotherOfTheSameTime) {
  bool second_ran = false;
  bool cancelled = false;
  TimerId second = 0;
  Run([&] {
    const TimePoint when = In(milliseconds(1));
    loop().RunAt(when, [&] { cancelled = loop().CancelTimer(second); });
    second = loop().RunAt(when, [&] { second_ran = true; });
  });
  Pass(milliseconds(5));
  Run([&] {
    EXPECT_TRUE(cancelled);
    EXPECT_FALSE(second_ran);
  });
}

TEST_P(WorldConformanceTest, TimerAtNeverStaysPending) {
  bool ran = false;
  TimerId timer = 0;
  Run([&] { timer = loop().RunAt(kNever, [&] { ran = true; }); });
  Pass(milliseconds(2));
  Run([&] {
    EXPECT_FALSE(ran);
    EXPECT_TRUE(loop().CancelTimer(timer));
  });
}

TEST_P(WorldConformanceTest, CancellingDestroysTheTask) {
  auto held = std::make_shared<int>(0);
  Run([&] {
    const TimerId timer = loop().RunAt(In(hours(1)), [copy = held] {});
    EXPECT_EQ(held.use_count(), 2);
    loop().CancelTimer(timer);
    EXPECT_EQ(held.use_count(), 1);
  });
}

TEST_P(WorldConformanceTest, PostsRunInOrderAndNotInsideTheCall) {
  std::vector<int> order;
  Run([&] {
    for (int i = 0; i < 3; ++i) loop().Post([&order, i] { order.push_back(i); });
    EXPECT_TRUE(order.empty());
  });
  ASSERT_TRUE(Until([&] { return order.size() == 3; }));
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST_P(WorldConformanceTest, PostsFromOtherThreadsAllRunInTheirOrder) {
  constexpr int kThreads = 3;
  constexpr int kPosts = 1000;
  std::vector<std::vector<int>> seen(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t, &seen] {
      for (int i = 0; i < kPosts; ++i) loop().Post([&seen, t, i] { seen[t].push_back(i); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < kThreads; ++t) {
    ASSERT_TRUE(Until([&] { return seen[t].size() == kPosts; }));
    for (int i = 0; i < kPosts; ++i) ASSERT_EQ(seen[t][i], i);
  }
}

TEST_P(WorldConformanceTest, LoopsPostToEachOther) {
  constexpr int kRounds = 100;
  Loop& other = StartLoop("other");
  int rounds = 0;
  std::function<void()> bounce = [&] {
    other.Post([&] {
      loop().Post([&] {
        if (++rounds < kRounds) bounce();
      });
    });
  };
  Run([&] { bounce(); });
  EXPECT_TRUE(Until([&] { return rounds == kRounds; }));
}

TEST_P(WorldConformanceTest, TimeNeverDecreases) {
  int left = 200;
  TimePoint last{};
  std::function<void()> tick = [&] {
    EXPECT_GE(loop().Now(), last);
    last = loop().Now();
    if (--left > 0) loop().RunAt(In(microseconds(10)), [&] { tick(); });
  };
  Run([&] { tick(); });
  EXPECT_TRUE(Until([&] { return left == 0; }));
}

TEST_P(WorldConformanceTest, LoopsDrawDifferentRandomNumbers) {
  Loop& other = StartLoop("other");
  uint64_t one = 0;
  uint64_t two = 0;
  Run([&] { one = loop().random().Next(); });
  RunOn(other, [&] { two = other.random().Next(); });
  EXPECT_NE(one, two);
}

TEST_P(WorldConformanceTest, ExecuteRunsItsTaskOnce) {
  int runs = 0;
  Run([&] { world().processors().Execute(loop(), milliseconds(2), [&] { ++runs; }); });
  ASSERT_TRUE(Until([&] { return runs > 0; }));
  Pass(milliseconds(3));
  Run([&] { EXPECT_EQ(runs, 1); });
}

TEST_P(WorldConformanceTest, ExecuteTakesItsCost) {
  TimePoint begin;
  TimePoint end;
  Run([&] {
    begin = loop().Now();
    world().processors().Execute(loop(), milliseconds(5), [&] {
      // A loop may cache the time for one turn, so read it in the next turn.
      loop().Post([&] { end = loop().Now(); });
    });
  });
  ASSERT_TRUE(Until([&] { return end != TimePoint(); }));
  EXPECT_GE(end - begin, milliseconds(5));
}

TEST_P(WorldConformanceTest, WallTimeIsAfter2015) {
  constexpr int64_t kStartOf2015Ns = 1'420'070'400'000'000'000;
  EXPECT_GT(world().wall_time().ns_since_1970, kStartOf2015Ns);
}

TEST_P(WorldConformanceTest, StopDestroysQueuedTasksWithoutRunningThem) {
  auto held = std::make_shared<int>(0);
  Run([&] { loop().RunAt(In(hours(1)), [copy = held] { ++*copy; }); });
  world().Stop();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 0);
}

TEST_P(WorldConformanceTest, StopIsIdempotentAndEndsStarting) {
  world().Stop();
  world().Stop();
  EXPECT_FALSE(world().StartLoop({.name = "late"}).ok());
}

}  // namespace
}  // namespace neptune
