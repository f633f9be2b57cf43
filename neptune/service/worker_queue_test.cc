#include "neptune/service/worker_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

// A node of real worker loops.
class WorkerQueueTest : public testing::Test {
 protected:
  void Start(int worker_count) {
    for (int i = 0; i < worker_count; ++i) {
      const std::string name = StrCat("work-", i);
      Loop* const loop = *world_->StartLoop({.name = name, .priority = LoopPriority::kBackground});
      NodeLoop& added = loops_.Add(name, LoopRole::kWorking, loop);
      Notification made;
      loop->Post([&] {
        added.scheduler = std::make_unique<ThreadScheduler>(*loop);
        made.Notify();
      });
      made.WaitForNotification();
    }
  }
  ~WorkerQueueTest() override { world_->Stop(); }

  // Hands over a piece of work that runs on a user-level thread.
  void Post(std::function<void(NodeLoop&)> body) {
    loops_.worker_queue().Post([body = std::move(body)](NodeLoop& worker) {
      EXPECT_TRUE(worker.scheduler->RunInPlace([&] { body(worker); }).ok());
    });
  }

  // Used by work that may outlast its test: the loops are stopped before these are destroyed.
  Notification release_;  // loops that are held up wait for it
  Notification all_held_;
  LeafMutex mutex_;
  std::set<std::string> names_ ABSL_GUARDED_BY(mutex_);
  const std::unique_ptr<World> world_ = MakeRealWorld({});
  NodeLoops loops_{*world_};
};

TEST_F(WorkerQueueTest, WorkDoesNotWaitForALoopThatIsHeldUp) {
  Start(3);
  // Two loops are held up for as long as the test wants.
  std::atomic<int> held_count{0};
  Notification both_held;
  for (int i = 0; i < 2; ++i) {
    Post([&](NodeLoop&) {
      if (++held_count == 2) both_held.Notify();
      release_.WaitForNotification();
    });
  }
  both_held.WaitForNotification();
  std::atomic<int> done_count{0};
  Notification all_done;
  for (int i = 0; i < 100; ++i) {
    Post([&](NodeLoop&) {
      if (++done_count == 100) all_done.Notify();
    });
  }
  all_done.WaitForNotification();  // by the third loop alone
  release_.Notify();
}

TEST_F(WorkerQueueTest, WorkThatWaitsIsRunByTheFirstLoopThatIsFree) {
  Start(1);
  Notification held;
  Post([&](NodeLoop&) {
    held.Notify();
    release_.WaitForNotification();
  });
  held.WaitForNotification();
  std::vector<int> order;  // used by the one loop
  Notification all_done;
  for (int i = 0; i < 20; ++i) {
    Post([&order, &all_done, i](NodeLoop&) {
      order.push_back(i);
      if (i == 19) all_done.Notify();
    });
  }
  release_.Notify();
  all_done.WaitForNotification();
  ASSERT_EQ(order.size(), 20u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end())) << "the oldest first";
}

TEST_F(WorkerQueueTest, AllLoopsTakePart) {
  Start(3);
  for (int i = 0; i < 3; ++i) {
    Post([&](NodeLoop& worker) {
      {
        LeafLock lock(&mutex_);
        names_.insert(worker.name);
        if (names_.size() == 3) all_held_.Notify();
      }
      release_.WaitForNotification();
    });
  }
  all_held_.WaitForNotification();
  release_.Notify();
}

}  // namespace
}  // namespace neptune
