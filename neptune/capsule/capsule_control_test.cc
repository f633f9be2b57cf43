// Admission control of a capsule: bounds, feedback timeout, bypass and re-admission.

#include "neptune/capsule/capsule_control.h"

#include <gtest/gtest.h>

#include <vector>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Outcome = CapsuleControl::Outcome;
using Verdict = CapsuleControl::Verdict;

TimePoint At(int64_t ms) { return TimePoint(milliseconds(ms)); }

// Enters until `count` are inside.
void Fill(CapsuleControl& control, size_t count, TimePoint now) {
  while (control.statistics().resident_count < count) {
    ASSERT_EQ(control.Enter(now).verdict, Verdict::kEnter);
  }
}

TEST(CapsuleControlTest, OneOverTheLimitIsRefusedUntilOneLeaves) {
  CapsuleControl control({.resident_count_max = 3}, {});
  Fill(control, 3, At(0));
  EXPECT_EQ(control.Enter(At(1)).verdict, Verdict::kRefuse);
  control.Leave(Verdict::kEnter, Outcome::kDone, At(0), At(10));
  EXPECT_EQ(control.Enter(At(11)).verdict, Verdict::kEnter);
  EXPECT_EQ(control.statistics().refused, 1u);
  EXPECT_EQ(control.statistics().resident_count_max, 3u);
}

TEST(CapsuleControlTest, ThrottleRefusesBelowTheLimit) {
  CapsuleControl control({.resident_count_max = 100, .throttle_count = 5}, {});
  Fill(control, 5, At(0));
  EXPECT_EQ(control.Enter(At(1)).verdict, Verdict::kRefuse);
}

TEST(CapsuleControlTest, AskDoesNotEnter) {
  CapsuleControl control({.resident_count_max = 2}, {});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(control.Ask(At(0)), Verdict::kEnter);
  Fill(control, 2, At(0));
  EXPECT_EQ(control.Ask(At(1)), Verdict::kRefuse);
  EXPECT_EQ(control.statistics().refused, 1u);
  EXPECT_EQ(control.statistics().resident_count, 2u);
}

TEST(CapsuleControlTest, TimeoutIsFullWithoutFeedback) {
  CapsuleControl control({.timeout = seconds(2)}, {});
  for (int i = 0; i < 500; ++i) EXPECT_EQ(control.Enter(At(0)).timeout, seconds(2));
}

// max{0, t (b - n) / (b - a)}
TEST(CapsuleControlTest, TimeoutShrinksBetweenTheWatermarks) {
  CapsuleControl control({.timeout = seconds(2)},
                         {.low_watermark = 10, .high_watermark = 30, .bypass_share = 0});
  const std::vector<std::pair<size_t, Duration>> expected = {{0, seconds(2)},
                                                             {10, seconds(2)},
                                                             {15, milliseconds(1500)},
                                                             {20, seconds(1)},
                                                             {29, milliseconds(100)}};
  for (const auto& [residents, timeout] : expected) {
    Fill(control, residents, At(0));
    EXPECT_EQ(control.FeedbackTimeout(), timeout) << residents;
  }
  Fill(control, 30, At(0));
  EXPECT_EQ(control.FeedbackTimeout(), Duration(0));
}

class BypassTest : public testing::Test {
 protected:
  static constexpr FeedbackOptions kFeedback = {.low_watermark = 10,
                                                .high_watermark = 30,
                                                .bypass_share = 0.1,
                                                .probe_interval = milliseconds(100),
                                                .ramp_count = 2,
                                                .ramp_period = milliseconds(50),
                                                .ramp_length = 3};
  // Nothing answers: calls pile up until the dependency is bypassed.
  void PileUp() {
    while (control_.Enter(At(0)).verdict == Verdict::kEnter) ++inside_;
    ASSERT_TRUE(control_.bypassing());
  }
  void LeaveAll(Outcome outcome, TimePoint now) {
    for (; inside_ > 0; --inside_) control_.Leave(Verdict::kEnter, outcome, At(0), now);
  }

  CapsuleControl control_{{.timeout = seconds(2)}, kFeedback};
  int inside_ = 0;
};

TEST_F(BypassTest, BeginsBelowTheFloorOfTheTimeout) {
  PileUp();
  EXPECT_EQ(inside_, 29);  // 30 - 29 of 20 is 0.05 of the timeout
  EXPECT_EQ(control_.statistics().bypassed, 1u);
}

TEST_F(BypassTest, LetsInOneProbeAtATimeEvenAfterAllHaveLeft) {
  PileUp();
  LeaveAll(Outcome::kTimedOut, At(50));
  EXPECT_EQ(control_.Enter(At(99)).verdict, Verdict::kBypass);
  const auto probe = control_.Enter(At(100));
  EXPECT_EQ(probe.verdict, Verdict::kProbe);
  EXPECT_EQ(probe.timeout, seconds(2));
  EXPECT_EQ(control_.Enter(At(900)).verdict, Verdict::kBypass);
  control_.Leave(Verdict::kProbe, Outcome::kTimedOut, At(100), At(2100));
  EXPECT_EQ(control_.Enter(At(2101)).verdict, Verdict::kProbe);
}

TEST_F(BypassTest, ProbeThatSucceedsLetsCallsInByAndBy) {
  PileUp();
  LeaveAll(Outcome::kTimedOut, At(50));
  ASSERT_EQ(control_.Enter(At(100)).verdict, Verdict::kProbe);
  control_.Leave(Verdict::kProbe, Outcome::kDone, At(100), At(110));
  const auto let_in = [&](int64_t ms) {
    int count = 0;
    for (int call = 0; call < 100; ++call) {
      if (control_.Enter(At(ms)).verdict != Verdict::kEnter) continue;
      ++count;
      control_.Leave(Verdict::kEnter, Outcome::kDone, At(ms), At(ms));
    }
    return count;
  };
  EXPECT_EQ(let_in(110), 2);
  EXPECT_EQ(let_in(160), 4);
  EXPECT_EQ(let_in(210), 8);
  EXPECT_EQ(let_in(260), 100);
}

TEST_F(BypassTest, DependencyThatHangsAgainDuringTheRampIsBypassedAgain) {
  PileUp();
  LeaveAll(Outcome::kTimedOut, At(50));
  ASSERT_EQ(control_.Enter(At(100)).verdict, Verdict::kProbe);
  control_.Leave(Verdict::kProbe, Outcome::kDone, At(100), At(110));
  int admitted = 0;
  for (int64_t ms = 110; ms < 1000; ms += 10) {
    for (int call = 0; call < 10; ++call) {
      admitted += control_.Enter(At(ms)).verdict == Verdict::kEnter ? 1 : 0;
    }
  }
  EXPECT_TRUE(control_.bypassing());
  EXPECT_LE(admitted, 30);
}

TEST(CapsuleControlTest, CountsOutcomesAndMeanTime) {
  CapsuleControl control({}, {});
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(control.Enter(At(0)).verdict, Verdict::kEnter);
    control.Leave(Verdict::kEnter, i % 4 == 0 ? Outcome::kFailed : Outcome::kDone, At(0), At(20));
  }
  const CapsuleControl::Statistics statistics = control.statistics();
  EXPECT_EQ(statistics.entered, 100u);
  EXPECT_EQ(statistics.done, 75u);
  EXPECT_EQ(statistics.failed, 25u);
  EXPECT_EQ(statistics.resident_count, 0u);
  EXPECT_EQ(statistics.mean_time, milliseconds(20));
}

// Three calls, one after the other, each timed out.
void FailInARow(CapsuleControl& control, int count, int64_t from_ms) {
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(control.Enter(At(from_ms + i)).verdict, Verdict::kEnter);
    control.Leave(Verdict::kEnter, Outcome::kTimedOut, At(from_ms + i), At(from_ms + i));
  }
}

TEST(CapsuleControlTest, ARunOfFailuresLeadsToBypassThoughFewAreInside) {
  CapsuleControl control({}, {.failure_count_max = 3});
  FailInARow(control, 3, 0);
  EXPECT_EQ(control.Enter(At(3)).verdict, Verdict::kBypass);
  EXPECT_EQ(control.Enter(At(102)).verdict, Verdict::kProbe);
  control.Leave(Verdict::kProbe, Outcome::kDone, At(102), At(103));
  EXPECT_EQ(control.Enter(At(104)).verdict, Verdict::kEnter);
}

TEST(CapsuleControlTest, AskDoesNotUseUpTheProbe) {
  CapsuleControl control({}, {.failure_count_max = 1});
  FailInARow(control, 1, 0);
  EXPECT_EQ(control.Ask(At(50)), Verdict::kBypass);
  EXPECT_EQ(control.Ask(At(150)), Verdict::kEnter);
  EXPECT_EQ(control.Enter(At(151)).verdict, Verdict::kProbe);
  EXPECT_EQ(control.Ask(At(152)), Verdict::kBypass);
  EXPECT_EQ(control.statistics().bypassed, 2u);
}

TEST(CapsuleControlTest, ASuccessEndsARunOfFailuresAndACancellationDoesNot) {
  CapsuleControl control({}, {.failure_count_max = 3});
  FailInARow(control, 2, 0);
  ASSERT_EQ(control.Enter(At(5)).verdict, Verdict::kEnter);
  control.Leave(Verdict::kEnter, Outcome::kDone, At(5), At(6));
  FailInARow(control, 2, 10);
  ASSERT_EQ(control.Enter(At(20)).verdict, Verdict::kEnter);
  control.Leave(Verdict::kEnter, Outcome::kCancelled, At(20), At(21));
  EXPECT_FALSE(control.bypassing());
  FailInARow(control, 1, 30);
  EXPECT_TRUE(control.bypassing());
}

TEST(CapsuleControlTest, AFailedProbeDoesNotRestartTheBypass) {
  CapsuleControl control({}, {.failure_count_max = 1});
  FailInARow(control, 1, 0);
  ASSERT_EQ(control.Enter(At(100)).verdict, Verdict::kProbe);
  control.Leave(Verdict::kProbe, Outcome::kTimedOut, At(100), At(150));
  EXPECT_EQ(control.Enter(At(199)).verdict, Verdict::kBypass);
  EXPECT_EQ(control.Enter(At(200)).verdict, Verdict::kProbe);
}

}  // namespace
}  // namespace neptune
