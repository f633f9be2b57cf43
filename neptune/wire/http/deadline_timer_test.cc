#include "neptune/wire/http/deadline_timer.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::seconds;

class DeadlineTimerTest : public testing::Test {
 protected:
  // Asks for a run within `delay` from now.
  void RunBy(Duration delay) {
    loop_->Post([this, delay] {
      timer_->RunBy(loop_->Now() + delay, [this] {
        ++made_;
        return [this] {
          timer_->HasFired();
          ++fired_;
        };
      });
    });
    simulator_.RunFor(Duration(0));
  }

  Simulator simulator_{1};
  Loop* loop_ = *simulator_.AddHost({.name = "host"}).StartLoop({.name = "loop"});
  std::unique_ptr<DeadlineTimer> timer_ = std::make_unique<DeadlineTimer>(*loop_);
  int made_ = 0;
  int fired_ = 0;
};

TEST_F(DeadlineTimerTest, IsNotMovedToALaterTime) {
  RunBy(seconds(2));
  RunBy(seconds(5));
  EXPECT_EQ(made_, 1);
  simulator_.RunFor(seconds(3));
  EXPECT_EQ(fired_, 1);
}

TEST_F(DeadlineTimerTest, IsMovedToAnEarlierTime) {
  RunBy(seconds(5));
  RunBy(seconds(2));
  simulator_.RunFor(seconds(3));
  EXPECT_EQ(fired_, 1);
  simulator_.RunFor(seconds(10));
  EXPECT_EQ(fired_, 1);
}

TEST_F(DeadlineTimerTest, CanBeSetAgainOnceItHasFired) {
  RunBy(seconds(1));
  simulator_.RunFor(seconds(2));
  RunBy(seconds(5));
  simulator_.RunFor(seconds(6));
  EXPECT_EQ(fired_, 2);
}

TEST_F(DeadlineTimerTest, IsCancelledByItsEnd) {
  RunBy(seconds(1));
  timer_.reset();
  simulator_.RunFor(seconds(2));
  EXPECT_EQ(fired_, 0);
}

}  // namespace
}  // namespace neptune
