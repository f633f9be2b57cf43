// Loops of the real world as seen by the system's scheduler.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
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

// What the system knows of a thread.
struct Standing {
  int niceness = 0;
  uint64_t slice_ns = 0;  // 0: kernels before 6.12
  friend bool operator==(const Standing&, const Standing&) = default;
};

// A standing that one thread sets and another one reads.
class SeenStanding {
 public:
  void Set(const Standing& standing) {
    packed_ = standing.slice_ns * kNicenessCount +
              static_cast<uint64_t>(standing.niceness - kNicenessMin);
  }
  Standing Get() const {
    const uint64_t packed = packed_;
    return {static_cast<int>(packed % kNicenessCount) + kNicenessMin, packed / kNicenessCount};
  }

 private:
  static constexpr int kNicenessMin = -20;
  static constexpr uint64_t kNicenessCount = 40;
  std::atomic<uint64_t> packed_{0};
};

Standing StandingOfThisThread() {
  std::array<uint32_t, 12> attributes{};  // the kernel's sched_attr
  constexpr size_t kRuntime = 6;          // where its 64-bit field sched_runtime begins
  EXPECT_EQ(syscall(SYS_sched_getattr, 0, attributes.data(), sizeof(attributes), 0), 0);
  const uint64_t slice_ns = uint64_t{attributes[kRuntime + 1]} << 32 | attributes[kRuntime];
  return {getpriority(PRIO_PROCESS, kThisThread), slice_ns};
}

bool MayLowerNiceness() {
  bool may_lower = false;
  std::thread([&] {
    const int own = getpriority(PRIO_PROCESS, kThisThread);
    may_lower = setpriority(PRIO_PROCESS, kThisThread, own + 1) == 0 &&
                setpriority(PRIO_PROCESS, kThisThread, own) == 0;
  }).join();
  return may_lower;
}

// Two background loops: a task of the first one runs until the test ends it, and says how its
// thread stands meanwhile.
class LongTaskOfALoopTest : public testing::Test {
 protected:
  ~LongTaskOfALoopTest() override {
    ends_ = true;
    world_->Stop();
  }
  static void RunOn(Loop& loop, const std::function<void()>& work) {
    Notification done;
    loop.Post([&] {
      work();
      done.Notify();
    });
    done.WaitForNotification();
  }
  Standing StandingOf(Loop& loop) {
    Standing standing;
    RunOn(loop, [&] { standing = StandingOfThisThread(); });
    return standing;
  }
  void BeginLongTask() {
    Notification has_begun;
    long_.Post([&] {
      seen_.Set(StandingOfThisThread());
      has_begun.Notify();
      while (!ends_) seen_.Set(StandingOfThisThread());
    });
    has_begun.WaitForNotification();
  }
  // Gives the other loop tasks until the long one's thread stands otherwise; false: it does not.
  bool StepsBack(const Standing& before) {
    const TimePoint end = long_.Now() + std::chrono::seconds(20);
    while (seen_.Get() == before && long_.Now() < end) RunOn(other_, [] {});
    return !(seen_.Get() == before);
  }

  const std::unique_ptr<World> world_ = MakeRealWorld({});
  Loop& long_ = **world_->StartLoop({"long", LoopPriority::kBackground});
  Loop& other_ = **world_->StartLoop({"other", LoopPriority::kBackground});
  std::atomic<bool> ends_{false};
  SeenStanding seen_;
};

TEST_F(LongTaskOfALoopTest, StepsBackWhileOthersBeginTasksAndReturnsAtItsEnd) {
  const Standing before = StandingOf(long_);
  const bool may_return = MayLowerNiceness();
  if (!may_return && before.slice_ns == 0) GTEST_SKIP() << "the system lets no thread step back";
  BeginLongTask();
  ASSERT_TRUE(StepsBack(before));
  EXPECT_GE(seen_.Get().slice_ns, before.slice_ns);
  EXPECT_EQ(seen_.Get().niceness,
            may_return ? std::min(before.niceness + 5, kNicenessMax) : before.niceness);
  EXPECT_EQ(StandingOf(other_), before) << "its tasks are short";
  ends_ = true;
  EXPECT_EQ(StandingOf(long_), before);
}

TEST_F(LongTaskOfALoopTest, NothingStepsBackForAServingLoop) {
  const Standing before = StandingOf(long_);
  Loop& serving = **world_->StartLoop({"serving", LoopPriority::kServing});
  BeginLongTask();
  const TimePoint end = long_.Now() + std::chrono::milliseconds(20);
  while (long_.Now() < end) RunOn(serving, [] {});
  EXPECT_EQ(seen_.Get(), before);
}

}  // namespace
}  // namespace neptune
