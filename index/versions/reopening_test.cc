#include "index/versions/reopening.h"

#include <gtest/gtest.h>

#include <vector>

#include "neptune/world/sim/simulator.h"

namespace search::index {
namespace {

using neptune::Duration;
using neptune::Status;
using std::chrono::milliseconds;
using std::chrono::seconds;

class ReopeningTest : public testing::Test {
 protected:
  // Opens at attempt number `opens_at`; 0: never.
  void Begin(int opens_at) {
    const auto open = [this, opens_at]() -> Status {
      if (++attempt_count_ == opens_at) return neptune::OkStatus();
      return neptune::Unavailable("attempt ", attempt_count_);
    };
    const auto on_failure = [this](const Status& failure, Duration delay) {
      last_failure_ = neptune::ToStd(failure.message());
      delays_.push_back(delay);
    };
    reopening_->Begin({.open = open, .on_failure = on_failure}, neptune::Unavailable("the start"));
  }

  neptune::Simulator simulator_{1};
  neptune::Loop& loop_ = **simulator_.AddHost({.name = "a"}).StartLoop({.name = "low"});
  const std::shared_ptr<Reopening> reopening_ = Reopening::Make(loop_);
  int attempt_count_ = 0;
  std::vector<Duration> delays_;
  std::string last_failure_;
};

TEST_F(ReopeningTest, TriesAtGrowingIntervalsUntilItIsOpen) {
  Begin(4);
  EXPECT_EQ(last_failure_, "the start");
  EXPECT_EQ(attempt_count_, 0) << "not on the caller's thread";
  simulator_.RunFor(milliseconds(150));
  EXPECT_EQ(attempt_count_, 1);
  EXPECT_EQ(last_failure_, "attempt 1");
  simulator_.RunFor(seconds(60));
  EXPECT_EQ(attempt_count_, 4) << "it is open, and not tried again";
  EXPECT_EQ(delays_, (std::vector<Duration>{milliseconds(100), milliseconds(200), milliseconds(400),
                                            milliseconds(800)}));
}

TEST_F(ReopeningTest, DelaysHaveALimit) {
  Begin(0);
  simulator_.RunFor(seconds(120));
  EXPECT_EQ(delays_.back(), kReopenDelayMax);
  EXPECT_GE(attempt_count_, 15);
  EXPECT_LE(attempt_count_, 25);
}

TEST_F(ReopeningTest, NothingIsTriedAfterStop) {
  Begin(0);
  simulator_.RunFor(seconds(1));
  const int before = attempt_count_;
  EXPECT_GT(before, 0);
  reopening_->Stop();
  simulator_.RunFor(seconds(60));
  EXPECT_EQ(attempt_count_, before);
  Begin(1);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(attempt_count_, before);
}

}  // namespace
}  // namespace search::index
