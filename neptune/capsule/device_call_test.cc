// Device calls: on helper threads in the real world, modelled in the simulated one.

#include "neptune/capsule/device_call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/world/real/helper_threads.h"
#include "neptune/world/real/real_world.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

CapsuleConfig StoreCapsule() {
  CapsuleConfig config;
  config.name = "store";
  config.type = ResourceType::kDevice;
  config.rules = {*ClassificationRule::Parse("disk:/store/**")};
  return config;
}

// A real loop with its user-level threads, and a stack with helper threads.
class RealDeviceTest : public testing::Test {
 protected:
  RealDeviceTest() : world_(MakeRealWorld({})), loop_(**world_->StartLoop({.name = "main"})) {
    Notification made;
    loop_.Post([&] {
      threads_ = std::make_unique<ThreadScheduler>(loop_);
      made.Notify();
    });
    made.WaitForNotification();
  }
  ~RealDeviceTest() override { world_->Stop(); }

  // Runs the body on a user-level thread and waits for its end.
  void Run(Task body) {
    Notification done;
    Spawn([&] {
      body();
      done.Notify();
    });
    done.WaitForNotification();
  }
  void Spawn(Task body) {
    loop_.Post(
        [this, body = std::move(body)]() mutable { (void)threads_->Spawn(std::move(body)); });
  }

  std::unique_ptr<World> world_;
  Loop& loop_;
  std::unique_ptr<ThreadScheduler> threads_;
  CapsuleStack stack_{{.make_helpers = MakeRealHelperThreads}};
};

TEST_F(RealDeviceTest, TheCallRunsOnAHelperThread) {
  ASSERT_TRUE(stack_.Create(StoreCapsule()).ok());
  Run([&] {
    const std::thread::id home = std::this_thread::get_id();
    const StatusOr<std::thread::id> there =
        RunOnDevice(stack_, "/store/a", [] { return std::this_thread::get_id(); });
    ASSERT_TRUE(there.ok()) << there.status();
    EXPECT_NE(*there, home);
    EXPECT_EQ(std::this_thread::get_id(), home);
  });
}

TEST_F(RealDeviceTest, CallWithoutACapsuleRunsInItsThread) {
  ASSERT_TRUE(stack_.Create(StoreCapsule()).ok());
  Run([&] {
    const auto there = RunOnDevice(stack_, "/elsewhere", [] { return std::this_thread::get_id(); });
    EXPECT_EQ(*there, std::this_thread::get_id());
  });
}

TEST_F(RealDeviceTest, ARefusalIsAnErrorWhateverTheCallReturns) {
  CapsuleConfig config = StoreCapsule();
  config.limits.resident_count_max = 1;
  ASSERT_TRUE(stack_.Create(config).ok());
  Notification release;
  Notification called;
  Notification done;
  Spawn([&] {
    EXPECT_TRUE(RunTaskOnDevice(stack_, "/store/a", [&] {
                  called.Notify();
                  release.WaitForNotification();
                }).ok());
    done.Notify();
  });
  called.WaitForNotification();
  int call_count = 0;
  const auto refusal_of = [&](auto result) {
    return RunOnDevice(stack_, "/store/b", [&call_count, result] {
      ++call_count;
      return result;
    });
  };
  Run([&] {
    EXPECT_EQ(refusal_of(OkStatus()).code(), StatusCode::kResourceExhausted);
    EXPECT_EQ(refusal_of(StatusOr<int>(1)).status().code(), StatusCode::kResourceExhausted);
    EXPECT_EQ(refusal_of(1).status().code(), StatusCode::kResourceExhausted);
  });
  EXPECT_EQ(call_count, 0);
  release.Notify();
  done.WaitForNotification();
  Run([&] {
    EXPECT_EQ(refusal_of(NotFound("of the call")).code(), StatusCode::kNotFound);
    EXPECT_EQ(refusal_of(StatusOr<int>(NotFound("of the call"))).status().code(),
              StatusCode::kNotFound);
    EXPECT_EQ(refusal_of(StatusOr<int>(7)).value(), 7);
  });
}

TEST_F(RealDeviceTest, TheLoopGoesOnWhileACallBlocks) {
  ASSERT_TRUE(stack_.Create(StoreCapsule()).ok());
  Notification release;
  Notification called;
  Notification done;
  Spawn([&] {
    EXPECT_EQ(*RunOnDevice(stack_, "/store/a",
                           [&] {
                             called.Notify();
                             release.WaitForNotification();
                             return 7;
                           }),
              7);
    done.Notify();
  });
  called.WaitForNotification();
  Run([] {});  // the loop's thread is not blocked
  release.Notify();
  done.WaitForNotification();
}

TEST_F(RealDeviceTest, ACallerWhoseDeadlinePassesGoesOnAndItsHelperIsTaken) {
  CapsuleConfig config = StoreCapsule();
  config.processing_count_max = 1;
  config.limits.timeout = milliseconds(20);
  ASSERT_TRUE(stack_.Create(config).ok());
  Notification release;
  const auto held = std::make_shared<int>(0);
  Run([&] {
    const auto hung = RunOnDevice(stack_, "/store/a", [&release, held] {
      release.WaitForNotification();
      return *held;
    });
    EXPECT_EQ(hung.status().code(), StatusCode::kDeadlineExceeded);
    const auto next = RunOnDevice(stack_, "/store/b", [] { return 1; });
    EXPECT_EQ(next.status().code(), StatusCode::kDeadlineExceeded) << "its turn cannot have come";
  });
  release.Notify();
  // A timeout long enough not to matter: the only helper becomes free eventually.
  config.limits.timeout = kNoTimeout;
  Run([&] {
    ASSERT_TRUE(stack_.Change(config).ok());
    EXPECT_EQ(*RunOnDevice(stack_, "/store/c", [] { return 3; }), 3);
  });
}

TEST_F(RealDeviceTest, ADestroyedDevicesCallsAreFinished) {
  CapsuleConfig config = StoreCapsule();
  config.processing_count_max = 1;
  ASSERT_TRUE(stack_.Create(config).ok());
  Notification release;
  Notification called;
  Notification all_done;
  std::atomic<int> begun_count{0};
  std::atomic<int> finished_count{0};
  constexpr int kCallCount = 3;
  for (int i = 0; i < kCallCount; ++i) {
    Spawn([&] {
      const auto value = RunOnDevice(stack_, "/store/a", [&] {
        if (begun_count++ == 0) called.Notify();
        release.WaitForNotification();
        return std::this_thread::get_id();
      });
      EXPECT_TRUE(value.ok()) << value.status();
      EXPECT_NE(*value, std::this_thread::get_id())
          << "ran on the helper thread of the destroyed capsule";
      if (++finished_count == kCallCount) all_done.Notify();
    });
  }
  called.WaitForNotification();
  Run([&] {
    ASSERT_TRUE(stack_.Destroy("store").ok());
    EXPECT_EQ(*RunOnDevice(stack_, "/store/b", [] { return std::this_thread::get_id(); }),
              std::this_thread::get_id())
        << "no capsule takes the path any more";
  });
  EXPECT_EQ(finished_count, 0);
  release.Notify();
  all_done.WaitForNotification();
}

TEST_F(RealDeviceTest, ACallThatUsesItsCallersMemoryIsWaitedFor) {
  CapsuleConfig config = StoreCapsule();
  config.limits.timeout = milliseconds(1);
  ASSERT_TRUE(stack_.Create(config).ok());
  Notification called;
  Notification release;
  Notification done;
  Spawn([&] {
    int value = 0;
    EXPECT_TRUE(RunTaskOnDevice(
                    stack_, "/store/a",
                    [&] {
                      called.Notify();
                      release.WaitForNotification();
                      value = 5;
                    },
                    {}, DeviceWait::kForEnd)
                    .ok());
    EXPECT_EQ(value, 5);
    done.Notify();
  });
  called.WaitForNotification();
  Run([] { this_thread::SleepFor(milliseconds(5)); });
  release.Notify();
  done.WaitForNotification();
}

TEST_F(RealDeviceTest, ManyThreadsShareFewHelpers) {
  CapsuleConfig config = StoreCapsule();
  config.processing_count_max = 2;
  ASSERT_TRUE(stack_.Create(config).ok());
  std::atomic<int> at_once{0};
  std::atomic<int> at_once_max{0};
  std::atomic<int> left{200};
  Notification done;
  for (int i = 0; i < 200; ++i) {
    Spawn([&] {
      const auto ran = RunOnDevice(stack_, "/store/a", [&] {
        const int now = ++at_once;
        int seen = at_once_max;
        while (now > seen && !at_once_max.compare_exchange_weak(seen, now)) {
        }
        --at_once;
        return true;
      });
      EXPECT_TRUE(ran.ok()) << ran.status();
      if (--left == 0) done.Notify();
    });
  }
  done.WaitForNotification();
  EXPECT_LE(at_once_max, 2);
}

// A modelled device with 10 ms per call.
TEST(SimulatedDeviceTest, ACallTakesAPlaceForAsLongAsTheModelSays) {
  Simulator simulator(3);
  SimWorld& host = simulator.AddHost({.name = "a"});
  Loop& loop = **host.StartLoop({.name = "main"});
  CapsuleStack stack(
      {.make_helpers = [&](const std::string& name,
                           int count) { return host.MakeHelperThreads(name, count); },
       .device_time = [](std::string_view) { return milliseconds(10); }});
  CapsuleConfig config = StoreCapsule();
  config.processing_count_max = 1;
  config.limits.timeout = milliseconds(25);
  ASSERT_TRUE(stack.Create(config).ok());
  std::unique_ptr<ThreadScheduler> threads;
  std::vector<std::string> log;
  loop.Post([&] {
    threads = std::make_unique<ThreadScheduler>(loop);
    for (int i = 0; i < 4; ++i) {
      (void)threads->Spawn([&, i] {
        const StatusOr<int> value = RunOnDevice(stack, "/store/a", [i] { return i; });
        log.push_back(StrCat(value.ok() ? StrCat("value ", *value) : "timed out", " at ",
                             simulator.now().time_since_epoch() / milliseconds(1)));
      });
    }
  });
  simulator.RunFor(seconds(1));
  EXPECT_EQ(log, (std::vector<std::string>{"value 0 at 10", "value 1 at 20", "timed out at 25",
                                           "timed out at 25"}));
}

}  // namespace
}  // namespace neptune
