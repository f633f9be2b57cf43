// A limit that follows losses and time, and requests under it that work, wait, or end in time.

#include "neptune/sert/time_limit.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class TimeLimitTest : public testing::Test {
 protected:
  static TimeLimitOptions Options() {
    TimeLimitOptions options;
    options.threshold.lower_bound = milliseconds(100);
    options.threshold.upper_bound = seconds(4);
    options.threshold.low_watermark = 0.1;
    options.threshold.high_watermark = 0.5;
    options.threshold.window = seconds(2);
    return options;
  }

  // From now on.
  void Begin() {
    loop_->Post([this] {
      begin_ = loop_->Now();
      request_.emplace(limit_, *loop_, begin_, [this] { ended_at_ = loop_->Now(); });
    });
    simulator_.RunFor(Duration(1));
  }
  void End() {
    loop_->Post([this] { request_.reset(); });
    simulator_.RunFor(milliseconds(1));
  }
  Duration Threshold() const { return limit_.ThresholdAt(loop_->Now()); }
  // Half of what ends is lost, as long as the window remembers.
  void LoseMuch() {
    limit_.OnServed(loop_->Now());
    limit_.OnLost(loop_->Now());
  }
  Duration Ran() const { return loop_->Now() - begin_; }

  TimeLimit limit_{Options()};
  Simulator simulator_{1};
  Loop* const loop_ = *simulator_.AddHost({.name = "a"}).StartLoop({.name = "main"});
  std::optional<LimitedRequest> request_;
  TimePoint begin_;
  std::optional<TimePoint> ended_at_;
};

TEST_F(TimeLimitTest, FallsWithLossAndRisesWhenItIsForgotten) {
  EXPECT_EQ(Threshold(), seconds(4));
  LoseMuch();
  EXPECT_EQ(Threshold(), milliseconds(100));
  EXPECT_DOUBLE_EQ(limit_.Loss(loop_->Now()), 0.5);
  simulator_.RunFor(seconds(3));
  EXPECT_EQ(Threshold(), milliseconds(100)) << "not updated since";
  limit_.Renew(loop_->Now());
  EXPECT_EQ(Threshold(), seconds(4));
}

TEST_F(TimeLimitTest, WaitingRequestIsEndedAtTheUpperBound) {
  Begin();
  simulator_.RunFor(milliseconds(3999));
  EXPECT_FALSE(ended_at_);
  EXPECT_FALSE(request_->over());
  simulator_.RunFor(milliseconds(2));
  ASSERT_TRUE(ended_at_);
  EXPECT_EQ(*ended_at_ - begin_, seconds(4));
  EXPECT_TRUE(request_->over());
  End();
}

TEST_F(TimeLimitTest, WaitingRequestIsEndedSoonAfterTheLimitHasFallenBelowIt) {
  Begin();
  simulator_.RunFor(milliseconds(1510));
  LoseMuch();
  simulator_.RunFor(milliseconds(26));
  ASSERT_TRUE(ended_at_) << "looked at four times in the lower bound";
  EXPECT_LE(*ended_at_ - begin_, milliseconds(1536));
  End();
}

TEST_F(TimeLimitTest, WorkingRequestLearnsItAsItAsks) {
  Begin();
  EXPECT_FALSE(request_->Over(begin_ + milliseconds(100)));
  LoseMuch();
  EXPECT_FALSE(request_->Over(begin_ + milliseconds(99)));
  EXPECT_TRUE(request_->Over(begin_ + milliseconds(100)));
  EXPECT_TRUE(request_->over());
  simulator_.RunFor(seconds(3));
  EXPECT_TRUE(request_->Over(begin_)) << "from then on always";
  End();
}

TEST_F(TimeLimitTest, RequestThatEndsInTimeIsNotLookedAtAgain) {
  Begin();
  simulator_.RunFor(milliseconds(50));
  EXPECT_FALSE(request_->over());
  End();
  LoseMuch();
  simulator_.RunFor(seconds(10));
  EXPECT_FALSE(ended_at_);
}

TEST_F(TimeLimitTest, LowerBoundHoldsWhileTheFirstHasWaitedTooLong) {
  TimeLimitOptions options = Options();
  options.wait_goal = milliseconds(20);
  TimeLimit limit(options);
  const TimePoint now = loop_->Now();
  EXPECT_EQ(limit.ThresholdAt(now), seconds(4)) << "no request waits";
  limit.SetOldestWaiting(now);
  EXPECT_EQ(limit.ThresholdAt(now + milliseconds(19)), seconds(4));
  EXPECT_EQ(limit.ThresholdAt(now + milliseconds(20)), milliseconds(100));
  limit.SetOldestWaiting(now + milliseconds(10));
  EXPECT_EQ(limit.ThresholdAt(now + milliseconds(20)), seconds(4)) << "it had its turn";
  limit.SetOldestWaiting(kNever);
  EXPECT_EQ(limit.ThresholdAt(now + seconds(100)), seconds(4));
}

TEST_F(TimeLimitTest, LowerBoundHoldsForAWhileAfterOneCameThatHadWaitedElsewhere) {
  TimeLimitOptions options = Options();
  options.wait_goal = milliseconds(20);
  TimeLimit limit(options);
  const TimePoint now = loop_->Now();
  limit.OnArrival(now, milliseconds(19));
  EXPECT_EQ(limit.ThresholdAt(now), seconds(4));
  limit.OnArrival(now, milliseconds(20));
  EXPECT_EQ(limit.ThresholdAt(now), milliseconds(100));
  EXPECT_EQ(limit.ThresholdAt(now + milliseconds(199)), milliseconds(100));
  EXPECT_EQ(limit.ThresholdAt(now + milliseconds(200)), seconds(4))
      << "no further requests arrived";
}

TEST_F(TimeLimitTest, OthersWaitingCountsForNothingByLossAlone) {
  TimeLimit limit(Options());
  const TimePoint now = loop_->Now();
  limit.OnArrival(now, seconds(10));
  EXPECT_EQ(limit.ThresholdAt(now), seconds(4));
}

TEST_F(TimeLimitTest, WaitingIsEndedOnce) {
  Begin();
  simulator_.RunFor(seconds(5));
  ASSERT_TRUE(ended_at_);
  ended_at_.reset();
  simulator_.RunFor(seconds(20));
  EXPECT_FALSE(ended_at_);
  End();
}

}  // namespace
}  // namespace neptune
