#include "neptune/world/sim/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "neptune/world/random_source.h"

namespace neptune {
namespace {

TimePoint At(int64_t ns) { return TimePoint(Duration(ns)); }

// Runs everything due by `limit`.
void Drain(EventQueue& queue, TimePoint limit = kNever) {
  while (const auto due = queue.PopDue(limit)) queue.Take(*due).task();
}

TEST(EventQueueTest, RunsByTimeThenByInsertion) {
  EventQueue queue;
  std::vector<int> order;
  queue.Add(At(20), {[&] { order.push_back(3); }});
  queue.Add(At(10), {[&] { order.push_back(1); }});
  queue.Add(At(10), {[&] { order.push_back(2); }});
  Drain(queue);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(EventQueueTest, EventsAddedNowRunAfterThoseAlreadyPlannedForNow) {
  EventQueue queue;
  std::vector<int> order;
  queue.Add(At(10), {[&] {
              order.push_back(1);
              queue.Add(At(10), {[&] { order.push_back(3); }});
            }});
  queue.Add(At(10), {[&] { order.push_back(2); }});
  queue.Add(At(11), {[&] { order.push_back(4); }});
  Drain(queue);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST(EventQueueTest, StopsAtTheLimit) {
  EventQueue queue;
  int runs = 0;
  queue.Add(At(10), {[&] { ++runs; }});
  queue.Add(At(11), {[&] { ++runs; }});
  Drain(queue, At(10));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(queue.now(), At(10));
  EXPECT_EQ(queue.size(), 1u);
}

TEST(EventQueueTest, RemovedEventDoesNotRun) {
  EventQueue queue;
  int runs = 0;
  const EventId id = queue.Add(At(10), {[&] { ++runs; }});
  EXPECT_TRUE(queue.Remove(id));
  EXPECT_FALSE(queue.Remove(id));
  Drain(queue);
  EXPECT_EQ(runs, 0);
}

TEST(EventQueueTest, AnIdIsNotReused) {
  EventQueue queue;
  const EventId first = queue.Add(At(10), {[] {}});
  queue.Remove(first);
  queue.Add(At(10), {[] {}});
  EXPECT_FALSE(queue.Remove(first));
  EXPECT_EQ(queue.size(), 1u);
}

TEST(EventQueueTest, EventAtNeverIsHeldUntilRequeued) {
  EventQueue queue;
  int runs = 0;
  const EventId id = queue.Add(kNever, {[&] { ++runs; }});
  Drain(queue);
  EXPECT_EQ(runs, 0);
  queue.Requeue(id);
  Drain(queue);
  EXPECT_EQ(runs, 1);
}

TEST(EventQueueTest, RemoveIfReachesEveryKindOfPendingEvent) {
  EventQueue queue;
  LoopState loop;
  queue.Add(At(0), {[] {}, &loop});
  queue.Add(At(5), {[] {}, &loop});
  queue.Add(kNever, {[] {}, &loop});
  queue.Add(At(5), {[] {}});
  EXPECT_EQ(queue.RemoveIf([&](const Event& event) { return event.loop == &loop; }).size(), 3u);
  EXPECT_EQ(queue.size(), 1u);
}

TEST(EventQueueTest, RemovingAnEventMayAddAndRemoveOthers) {
  EventQueue queue;
  const EventId other = queue.Add(At(20), {[] {}});
  auto guard = std::shared_ptr<void>(nullptr, [&](void*) {
    queue.Remove(other);
    queue.Add(At(30), {[] {}});
  });
  const EventId id = queue.Add(At(10), {[guard = std::move(guard)] {}});
  EXPECT_TRUE(queue.Remove(id));
  EXPECT_EQ(queue.size(), 1u);
}

// Compares the queue with a simple sorted list.
TEST(EventQueueTest, AgreesWithASortedListUnderRandomUse) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    RandomSource random(seed);
    EventQueue queue;
    std::vector<int> ran;
    std::vector<std::tuple<int64_t, int, EventId>> planned;
    for (int i = 0; i < 3000; ++i) {
      const auto when = static_cast<int64_t>(1 + random.Below(50));
      planned.push_back({when, i, queue.Add(At(when), {[&ran, i] { ran.push_back(i); }})});
    }
    for (int i = 0; i < 2900; ++i) {  // enough to compact the heap
      const size_t victim = random.Below(planned.size());
      ASSERT_TRUE(queue.Remove(std::get<2>(planned[victim])));
      planned.erase(planned.begin() + static_cast<ptrdiff_t>(victim));
    }
    std::sort(planned.begin(), planned.end());
    Drain(queue);
    ASSERT_EQ(ran.size(), planned.size());
    for (size_t i = 0; i < ran.size(); ++i) EXPECT_EQ(ran[i], std::get<1>(planned[i]));
  }
}

}  // namespace
}  // namespace neptune
