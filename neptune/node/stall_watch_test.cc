#include "neptune/node/stall_watch.h"

#include <gtest/gtest.h>

#include <memory>

#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

class StallWatchTest : public testing::Test {
 protected:
  StallWatchTest() : simulator_(1) {
    simulator_.AddHost({.name = "host", .boot = [this](World& world) { return Boot(world); }});
    simulator_.RunFor(kStallLook / 2);
  }

  std::shared_ptr<void> Boot(World& world) {
    Loop* const loop = *world.StartLoop({.name = "loop"});
    auto watch = std::make_shared<StallWatch>(
        *loop, [this](TimePoint) { return stalled_count_; }, [this] { ++changes_; });
    watch_ = watch;
    loop->Post([watch = watch.get()] { watch->Start(); });
    return watch;
  }

  size_t stalled_count_ = 0;
  int changes_ = 0;
  std::weak_ptr<StallWatch> watch_;
  Simulator simulator_;
};

TEST_F(StallWatchTest, ReportsAChangeOnce) {
  simulator_.RunFor(10 * kStallLook);
  EXPECT_EQ(changes_, 0);
  stalled_count_ = 2;
  simulator_.RunFor(kStallLook);
  EXPECT_EQ(changes_, 1);
  simulator_.RunFor(10 * kStallLook);
  EXPECT_EQ(changes_, 1);
  stalled_count_ = 0;
  simulator_.RunFor(kStallLook);
  EXPECT_EQ(changes_, 2);
}

TEST_F(StallWatchTest, LooksNoMoreAfterItsStop) {
  watch_.lock()->Stop();
  stalled_count_ = 1;
  simulator_.RunFor(10 * kStallLook);
  EXPECT_EQ(changes_, 0);
}

}  // namespace
}  // namespace neptune
