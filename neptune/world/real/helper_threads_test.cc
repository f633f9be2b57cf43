// Tasks that block run in parallel, at most one for each thread.

#include "neptune/world/real/helper_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "neptune/base/notification.h"

namespace neptune {
namespace {

// Occupies a thread until it is released.
struct Blocker {
  Notification begun;
  Notification release;
  Task AsTask() {
    return [this] {
      begun.Notify();
      release.WaitForNotification();
    };
  }
};

TEST(HelperThreadsTest, AsManyBlockingTasksRunAtOnceAsThereAreThreads) {
  const auto helpers = MakeRealHelperThreads("test", 2);
  Blocker first;
  Blocker second;
  helpers->Run(first.AsTask());
  helpers->Run(second.AsTask());
  first.begun.WaitForNotification();
  second.begun.WaitForNotification();
  std::atomic<bool> third_ran{false};
  Notification third;
  helpers->Run([&] {
    third_ran = true;
    third.Notify();
  });
  EXPECT_FALSE(third_ran);
  first.release.Notify();
  third.WaitForNotification();
  second.release.Notify();
}

TEST(HelperThreadsTest, MoreThreadsRunWaitingTasks) {
  const auto helpers = MakeRealHelperThreads("test", 1);
  Blocker first;
  helpers->Run(first.AsTask());
  first.begun.WaitForNotification();
  Notification second;
  helpers->Run([&] { second.Notify(); });
  helpers->SetCount(2);
  second.WaitForNotification();
  first.release.Notify();
}

TEST(HelperThreadsTest, FewerThreadsStillRunEverything) {
  const auto helpers = MakeRealHelperThreads("test", 3);
  std::vector<Blocker> blockers(3);
  for (Blocker& blocker : blockers) helpers->Run(blocker.AsTask());
  for (Blocker& blocker : blockers) blocker.begun.WaitForNotification();
  helpers->SetCount(1);
  for (Blocker& blocker : blockers) blocker.release.Notify();
  for (int i = 0; i < 20; ++i) {
    Notification done;
    helpers->Run([&] { done.Notify(); });
    done.WaitForNotification();
  }
}

TEST(HelperThreadsTest, WaitingTasksAreDestroyedUnrunAtTheEnd) {
  auto helpers = MakeRealHelperThreads("test", 1);
  Blocker first;
  helpers->Run(first.AsTask());
  first.begun.WaitForNotification();
  const auto held = std::make_shared<int>(0);
  std::atomic<bool> ran{false};
  helpers->Run([&ran, held] { ran = true; });
  first.release.Notify();
  helpers.reset();
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace neptune
