// Loops of the real world as seen by the system's scheduler.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <thread>

#include "neptune/base/notification.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

constexpr int kNicenessMax = 19;
constexpr id_t kThisThread = 0;

int NicenessOfLoop(World& world, LoopPriority priority) {
  Loop& loop = **world.StartLoop({"loop", priority});
  Notification seen;
  int niceness = 0;
  loop.Post([&] {
    niceness = getpriority(PRIO_PROCESS, kThisThread);
    seen.Notify();
  });
  seen.WaitForNotification();
  return niceness;
}

// Checks the loops of a thread whose nice value is `nicer` above this one's.
void ExpectOfNicerThread(int nicer) {
  std::thread([nicer] {
    const int own = std::min(getpriority(PRIO_PROCESS, kThisThread) + nicer, kNicenessMax);
    ASSERT_EQ(setpriority(PRIO_PROCESS, kThisThread, own), 0);
    const std::unique_ptr<World> world = MakeRealWorld({});
    EXPECT_EQ(NicenessOfLoop(*world, LoopPriority::kServing), own);
    EXPECT_EQ(NicenessOfLoop(*world, LoopPriority::kBackground), std::min(own + 10, kNicenessMax));
    world->Stop();
  }).join();
}

TEST(ThreadPriorityTest, ABackgroundLoopIsNicerThanTheProgramByTen) {
  ExpectOfNicerThread(0);
  ExpectOfNicerThread(3);
}

TEST(ThreadPriorityTest, AControlLoopIsPreferredWhereThatIsPermitted) {
  std::thread([] {
    const int own = getpriority(PRIO_PROCESS, kThisThread);
    const bool may_lower = setpriority(PRIO_PROCESS, kThisThread, own - 5) == 0;
    if (may_lower) {
      ASSERT_EQ(setpriority(PRIO_PROCESS, kThisThread, own), 0);
    }
    const std::unique_ptr<World> world = MakeRealWorld({});
    EXPECT_EQ(NicenessOfLoop(*world, LoopPriority::kControl), may_lower ? own - 5 : own);
    world->Stop();
  }).join();
}

TEST(ThreadPriorityTest, NothingIsNicerThanTheSystemAllows) {
  ExpectOfNicerThread(kNicenessMax - 1);
}

}  // namespace
}  // namespace neptune
