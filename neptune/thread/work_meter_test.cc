// Measurements of a WorkMeter in both worlds.

#include "neptune/thread/work_meter.h"

#include <glog/logging.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "neptune/base/notification.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/real/real_world.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;

class SimulatedMeterTest : public testing::Test {
 protected:
  void Run(Task body) {
    ASSERT_TRUE(scheduler_.Spawn(std::move(body)).ok());
    simulator_.RunFor(std::chrono::seconds(10));
  }
  void Use(int64_t ms) { this_thread::Consume(host_.processors(), milliseconds(ms)); }

  Simulator simulator_{1};
  SimWorld& host_ = simulator_.AddHost({.name = "a", .processors = {.count = 2}});
  Loop& loop_ = **host_.StartLoop({.name = "main"});
  ThreadScheduler scheduler_{loop_};
};

TEST_F(SimulatedMeterTest, CountsWorkAndNoWaiting) {
  std::optional<Duration> read;
  Run([&] {
    Use(3);
    const WorkMeter meter;
    Use(5);
    this_thread::SleepFor(milliseconds(50));
    Use(2);
    read = meter.Read();
  });
  EXPECT_EQ(read, milliseconds(7));
}

TEST_F(SimulatedMeterTest, CountsItsOwnThreadOnly) {
  std::optional<Duration> read;
  ASSERT_TRUE(scheduler_.Spawn([&] { Use(100); }).ok());
  Run([&] {
    const WorkMeter meter;
    this_thread::SleepFor(milliseconds(10));
    Use(4);
    read = meter.Read();
  });
  EXPECT_EQ(read, milliseconds(4));
}

TEST_F(SimulatedMeterTest, InnerOneIsPartOfTheOuter) {
  std::optional<Duration> outer_read;
  std::optional<Duration> inner_read;
  std::optional<Duration> after;
  Run([&] {
    const WorkMeter outer;
    Use(1);
    {
      const WorkMeter inner;
      Use(2);
      this_thread::SleepFor(milliseconds(5));
      inner_read = inner.Read();
    }
    outer_read = outer.Read();
    Use(4);
    after = outer.Read();
  });
  EXPECT_EQ(inner_read, milliseconds(2));
  EXPECT_EQ(outer_read, milliseconds(3));
  EXPECT_EQ(after, milliseconds(7));
}

// Works until the loop's kernel thread has used `time` more.
void Spin(Duration time) {
  const Loop& loop = *Loop::Current();
  const Duration end = loop.ProcessorTime() + time;
  while (loop.ProcessorTime() < end) {
  }
}

TEST(RealMeterTest, ExcludesTimeOfOtherThreads) {
  const auto world = MakeRealWorld({});
  Loop& loop = **world->StartLoop({.name = "main"});
  std::unique_ptr<ThreadScheduler> scheduler;
  Notification done;
  Duration read{0};
  loop.Post([&] {
    scheduler = std::make_unique<ThreadScheduler>(loop);
    const auto measured = scheduler->Spawn([&] {
      const WorkMeter meter;
      Spin(milliseconds(4));
      this_thread::Yield();  // switches to the other thread
      Spin(milliseconds(4));
      read = meter.Read();
      done.Notify();
    });
    CHECK(measured.ok());
    CHECK(scheduler->Spawn([] { Spin(milliseconds(200)); }).ok());
  });
  done.WaitForNotification();
  world->Stop();
  EXPECT_GE(read, milliseconds(8));
  EXPECT_LT(read, milliseconds(200));
}

}  // namespace
}  // namespace neptune
