// The stage of a call follows the measured reductions and the learned length.

#include "neptune/dac/call_stages.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ServiceName kService("index");

class CallStagesTest : public testing::Test {
 protected:
  CallStages::Stage Choose(TimeoutPolicy policy, Duration left = seconds(1)) {
    return stages_.Choose(kService, policy, 24, left, random_);
  }

  CallStages stages_;
  RandomSource random_{1};
};

TEST_F(CallStagesTest, NothingIsKnownBeforeTheFirstCall) {
  EXPECT_EQ(Choose(TimeoutPolicy::kStaged).length, Duration(0));
  EXPECT_FALSE(Choose(TimeoutPolicy::kLearned).choice);
}

TEST_F(CallStagesTest, StagedCallHasTheLongestStage) {
  for (int i = 0; i < 100; ++i) stages_.OnReduceCost(kService, milliseconds(5));
  const CallStages::Stage stage = Choose(TimeoutPolicy::kStaged);
  EXPECT_EQ(stage.length, milliseconds(20));
  EXPECT_FALSE(stage.choice);
  EXPECT_EQ(
      stages_.Choose(ServiceName("other"), TimeoutPolicy::kStaged, 24, seconds(1), random_).length,
      Duration(0));
}

TEST_F(CallStagesTest, ShortCallsLearnAShorterStage) {
  for (int i = 0; i < 100; ++i) stages_.OnReduceCost(kService, milliseconds(5));
  Duration last{0};
  for (int i = 0; i < 2000; ++i) {
    const CallStages::Stage stage = Choose(TimeoutPolicy::kLearned, milliseconds(100));
    last = stage.length;
    // The longer the stage, the more is missing.
    stages_.OnEnd(kService, stage, 1 - 0.2 * ToSeconds(stage.length) / 0.02);
  }
  EXPECT_LT(last, milliseconds(20));
}

TEST_F(CallStagesTest, CancelledCallTeachesNothing) {
  stages_.OnReduceCost(kService, milliseconds(5));
  const CallStages::Stage stage = Choose(TimeoutPolicy::kLearned, milliseconds(100));
  for (int i = 0; i < 100; ++i) stages_.OnEnd(kService, stage, std::nullopt);
  EXPECT_EQ(Choose(TimeoutPolicy::kLearned, milliseconds(100)).length, stage.length);
}

}  // namespace
}  // namespace neptune
