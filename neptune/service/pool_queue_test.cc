#include "neptune/service/pool_queue.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kBegin = TimePoint(seconds(100));

class PoolQueueTest : public testing::Test {
 protected:
  void Make(size_t thread_count, size_t queue_length_max = 40) {
    SchedulerOptions options{.policy = SchedulingPolicy::kFifo, .drop_share = std::nullopt};
    options.classes[0].queue_length_max = queue_length_max;
    queue_ = std::make_unique<PoolQueue>(options, ThreadShares{.all = thread_count}, nullptr);
  }
  auto Clock() {
    return [this] { return now_; };
  }
  PoolQueue::Pushed Push(const std::string& payload, TimePoint deadline = kNever) {
    TakenRequest taken;
    taken.request.payload = payload;
    taken.request.received = now_;
    taken.request.deadline = deadline;
    return queue_->Push(std::move(taken), Clock());
  }
  // What the next turn runs: the payload of a request, "event", "returning", or "" for nothing.
  std::string Next() {
    PoolQueue::Turn turn = queue_->NextTurn(Clock());
    for (const TakenRequest& late : turn.dropped) dropped_ += late.request.payload;
    if (turn.returning != nullptr) return "returning";
    if (turn.event) return "event";
    return turn.next ? turn.next->request.payload : "";
  }
  bool Free() { return queue_->Free(ClassNumber(0), Clock()); }

  TimePoint now_ = kBegin;
  std::unique_ptr<PoolQueue> queue_;
  std::string dropped_;
};

TEST_F(PoolQueueTest, RunsAsManyAsThereAreThreads) {
  Make(2);
  for (const char* const payload : {"a", "b", "c"}) Push(payload);
  EXPECT_EQ(Next(), "a");
  EXPECT_EQ(Next(), "b");
  EXPECT_EQ(Next(), "");
  EXPECT_EQ(queue_->waiting_count(), 1u);
  EXPECT_TRUE(Free());
  EXPECT_EQ(Next(), "c");
  EXPECT_FALSE(Free());
}

TEST_F(PoolQueueTest, KeepsARequestThatItRefuses) {
  Make(1, /*queue_length_max=*/1);
  EXPECT_EQ(Push("a").entry, ClassScheduler::Entry::kTaken);
  TakenRequest second;
  second.request.payload = "b";
  second.request.received = now_;
  EXPECT_EQ(queue_->Push(std::move(second), Clock()).entry, ClassScheduler::Entry::kQueueFull);
  EXPECT_EQ(second.request.payload, "b");
}

TEST_F(PoolQueueTest, WorkAlreadyBegunGoesFirst) {
  Make(1);
  Push("running");
  EXPECT_EQ(Next(), "running");
  OneShotEvent turn;
  EXPECT_FALSE(queue_->Return(0, &turn, Clock()));
  queue_->PushEvent([](const Status&) {});
  Push("new");
  EXPECT_EQ(Next(), "") << "no thread is free";
  EXPECT_TRUE(Free());
  EXPECT_EQ(Next(), "returning");
  EXPECT_TRUE(Free());
  EXPECT_EQ(Next(), "event");
  EXPECT_TRUE(queue_->Free(std::nullopt, Clock()));
  EXPECT_EQ(Next(), "new");
}

TEST_F(PoolQueueTest, ReturnsAtOnceWhileAThreadIsFree) {
  Make(1);
  OneShotEvent turn;
  EXPECT_TRUE(queue_->Return(0, &turn, Clock()));
  OneShotEvent second;
  EXPECT_FALSE(queue_->Return(0, &second, Clock()));
}

TEST_F(PoolQueueTest, RemovesARequestWhoseCallerIsGone) {
  Make(1);
  Push("a");
  const RequestTicket ticket = Push("b").ticket;
  const std::optional<TakenRequest> removed = queue_->Remove(ticket);
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->request.payload, "b");
  EXPECT_FALSE(queue_->Remove(ticket));
  EXPECT_EQ(Next(), "a");
  EXPECT_EQ(queue_->waiting_count(), 0u);
}

TEST_F(PoolQueueTest, DropsRequestsWhoseDeadlineHasPassed) {
  Make(1);
  Push("late", now_ + milliseconds(10));
  Push("good");
  now_ += milliseconds(20);
  EXPECT_EQ(Next(), "good");
  EXPECT_EQ(dropped_, "late");
}

TEST_F(PoolQueueTest, ALargerPoolStartsMore) {
  Make(1);
  Push("a");
  Push("b");
  EXPECT_EQ(Next(), "a");
  EXPECT_EQ(Next(), "");
  queue_->SetShares({.all = 2, .own = {std::nullopt}});
  EXPECT_EQ(Next(), "b");
  EXPECT_EQ(queue_->Classes()[0].busy_count, 2u);
}

TEST_F(PoolQueueTest, StarvesWhileRequestsWaitAndNoThreadIsFreed) {
  Make(1);
  Push("a");
  EXPECT_EQ(Next(), "a");
  EXPECT_EQ(queue_->progress().StarvingFor(now_), Duration(0));
  const RequestTicket ticket = Push("b").ticket;
  now_ += seconds(2);
  EXPECT_EQ(queue_->progress().StarvingFor(now_), seconds(2));
  Push("c");
  queue_->Remove(ticket);
  EXPECT_EQ(queue_->progress().StarvingFor(now_), seconds(2))
      << "giving up does not count as progress";
  EXPECT_TRUE(Free());
  EXPECT_EQ(queue_->progress().StarvingFor(now_ + seconds(1)), seconds(1));
  EXPECT_EQ(Next(), "c");
  EXPECT_EQ(queue_->progress().StarvingFor(now_ + seconds(1)), Duration(0));
}

TEST_F(PoolQueueTest, IsSilentWhileAllThreadsAreTaken) {
  Make(2);
  Push("a");
  Push("b");
  EXPECT_EQ(Next(), "a");
  EXPECT_EQ(queue_->progress().Silence(now_ + seconds(1)), Duration(0));
  EXPECT_EQ(Next(), "b");
  EXPECT_EQ(queue_->progress().Silence(now_ + seconds(1)), seconds(1));
  Free();
  EXPECT_EQ(queue_->progress().Silence(now_ + seconds(1)), Duration(0));
}

TEST(PoolQueueLimitTest, TheLimitLearnsHowLongTheOldestWaits) {
  TimeLimit limit({.threshold = {}, .wait_goal = milliseconds(100)});
  PoolQueue queue({.policy = SchedulingPolicy::kFifo, .drop_share = std::nullopt}, {.all = 1},
                  &limit);
  const auto clock = [] { return kBegin; };
  TakenRequest taken;
  taken.request.received = kBegin;
  queue.Push(std::move(taken), clock);
  const TimePoint later = kBegin + milliseconds(200);
  EXPECT_EQ(limit.ThresholdAt(later), limit.lower_bound());
  ASSERT_TRUE(queue.NextTurn(clock).next);
  EXPECT_EQ(limit.ThresholdAt(later), limit.lower_bound()) << "it waits for its busy loop";
  queue.OnBegun(kBegin);
  EXPECT_EQ(limit.ThresholdAt(later), limit.threshold());
}

}  // namespace
}  // namespace neptune
