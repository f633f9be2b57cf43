#include "neptune/replication/agent/pending_writes.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "neptune/base/notification.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

constexpr RequestId kId = {.client = 7, .number = 1};

std::shared_ptr<PendingWrite> Pending(Lsn lsn, Epoch epoch, RequestId id = {}) {
  auto write = std::make_shared<PendingWrite>();
  write->id = id;
  write->lsn = lsn;
  write->epoch = epoch;
  return write;
}

ExecutedEntry Executed(Lsn lsn, Epoch epoch, const std::string& response) {
  ExecutedEntry executed;
  executed.entry.lsn = lsn;
  executed.entry.epoch = epoch;
  executed.outcome.response = response;
  return executed;
}

// Runs `body` on a user-level thread, as writers are.
void RunAsWriter(const std::function<void()>& body) {
  const std::unique_ptr<World> world = MakeRealWorld({});
  Loop* const loop = *world->StartLoop({.name = "test"});
  std::unique_ptr<ThreadScheduler> scheduler;
  Notification finished;
  loop->Post([&] {
    scheduler = std::make_unique<ThreadScheduler>(*loop, ThreadSchedulerOptions());
    ASSERT_TRUE(scheduler
                    ->Spawn([&] {
                      body();
                      finished.Notify();
                    })
                    .ok());
  });
  finished.WaitForNotification();
  Notification destroyed;
  loop->Post([&] {
    scheduler.reset();
    destroyed.Notify();
  });
  destroyed.WaitForNotification();
  world->Stop();
}

TEST(PendingWritesTest, WriteIsAnsweredWithItsOutcome) {
  RunAsWriter([] {
    PendingWrites writes;
    const auto first = Pending(4, 2);
    const auto second = Pending(5, 2);
    writes.Add(first);
    writes.Add(second);
    writes.Deliver({Executed(3, 2, "other"), Executed(4, 2, "done")});
    EXPECT_TRUE(first->done.is_set());
    EXPECT_TRUE(first->failure.ok());
    EXPECT_EQ(first->outcome.response, "done");
    EXPECT_FALSE(second->done.is_set());
  });
}

TEST(PendingWritesTest, WriteWhosePlaceAnotherPrimaryFilledIsUnknown) {
  RunAsWriter([] {
    PendingWrites writes;
    const auto lost = Pending(4, 2);
    const auto own = Pending(4, 3);
    writes.Add(lost);
    writes.Add(own);
    writes.Deliver({Executed(4, 3, "done")});
    EXPECT_EQ(lost->failure.code(), StatusCode::kUnavailable);
    EXPECT_EQ(own->outcome.response, "done");
  });
}

TEST(PendingWritesTest, AllAreAnsweredOnceWhenTheReplicaStops) {
  RunAsWriter([] {
    PendingWrites writes;
    const auto write = Pending(4, 2);
    writes.Add(write);
    writes.FailAll("stopping");
    EXPECT_TRUE(write->done.is_set());
    EXPECT_EQ(write->failure.code(), StatusCode::kUnavailable);
    writes.Deliver({Executed(4, 2, "late")});
    EXPECT_EQ(write->outcome.response, "");
  });
}

TEST(PendingWritesTest, AWriteOfTheSameIdWaitsForTheSameEntry) {
  RunAsWriter([] {
    PendingWrites writes;
    const auto first = Pending(4, 2, kId);
    writes.Add(first);
    const auto again = Pending(0, 0, kId);
    EXPECT_TRUE(writes.Join(again, 2));
    writes.Deliver({Executed(4, 2, "done")});
    EXPECT_TRUE(again->done.is_set());
    EXPECT_EQ(again->lsn, 4u);
    EXPECT_EQ(again->outcome.response, "done");
    const auto late = Pending(0, 0, kId);
    EXPECT_FALSE(writes.Join(late, 2)) << "the data know what is executed";
  });
}

TEST(PendingWritesTest, NoWriteWaitsForAnEntryOfAnotherIdOrTerm) {
  RunAsWriter([] {
    PendingWrites writes;
    const auto first = Pending(4, 2, kId);
    writes.Add(first);
    writes.Add(Pending(5, 2));  // without an id
    EXPECT_FALSE(writes.Join(Pending(0, 0), 2));
    EXPECT_FALSE(writes.Join(Pending(0, 0, {.client = 7, .number = 2}), 2));
    EXPECT_FALSE(writes.Join(Pending(0, 0, kId), 3)) << "its entry may have been replaced";
    writes.FailAll("stopped");
    EXPECT_FALSE(writes.Join(Pending(0, 0, kId), 2));
  });
}

TEST(PendingWritesTest, WritesThatRestoredDataMayContainAreAnswered) {
  RunAsWriter([] {
    PendingWrites writes;
    const auto covered = Pending(4, 2, kId);
    const auto later = Pending(5, 2);
    writes.Add(covered);
    writes.Add(later);
    writes.FailUpTo(4);
    EXPECT_EQ(covered->failure.code(), StatusCode::kUnavailable);
    EXPECT_FALSE(later->done.is_set());
    const auto again = Pending(0, 0, kId);
    EXPECT_FALSE(writes.Join(again, 2));
  });
}

}  // namespace
}  // namespace neptune
