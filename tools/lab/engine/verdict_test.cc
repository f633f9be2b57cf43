// What the judge accepts, and results that only look as if they reached their line.

#include "tools/lab/engine/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tools/lab/engine/judgement.h"

namespace search::lab {
namespace {

constexpr double kLine = 10;

Verdict AtMost(const Estimate& ours, Length length = Length::kFull) {
  return Decide(ours, {.high = kLine}, length).verdict;
}

TEST(VerdictTest, WholeIntervalMustReachTheLine) {
  EXPECT_EQ(AtMost({9, 8, 9.99, 5}), Verdict::kHolds);
  EXPECT_EQ(AtMost({9, 8, 10, 5}), Verdict::kHolds) << "the line belongs to its side";
  EXPECT_EQ(AtMost({9, 8, 10.01, 5}), Verdict::kNotDecided);
  EXPECT_EQ(AtMost({11, 9.9, 12, 5}), Verdict::kNotDecided);
  EXPECT_EQ(AtMost({11, 10.1, 12, 5}), Verdict::kMissed);
}

TEST(VerdictTest, QuickRunIsJudgedAsStrictlyAsAFullOne) {
  for (const Estimate& ours : std::vector<Estimate>{
           {9, 8, 9.99, 5}, {9, 8, 10.01, 5}, {11, 9.9, 12, 5}, {11, 10.1, 12, 5}}) {
    EXPECT_EQ(AtMost(ours, Length::kQuick), AtMost(ours, Length::kFull)) << ToText(ours);
  }
}

TEST(VerdictTest, BothEndsOfARegionCount) {
  const Region region{.low = -1, .high = 1};
  EXPECT_EQ(Decide({0, -0.9, 0.9, 5}, region, Length::kFull).verdict, Verdict::kHolds);
  EXPECT_EQ(Decide({0.5, -0.9, 1.1, 5}, region, Length::kFull).verdict, Verdict::kNotDecided);
  EXPECT_EQ(Decide({-0.5, -1.1, 0.5, 5}, region, Length::kFull).verdict, Verdict::kNotDecided);
  EXPECT_EQ(Decide({2, 1.1, 3, 5}, region, Length::kFull).verdict, Verdict::kMissed);
  EXPECT_EQ(Decide({-2, -3, -1.1, 5}, region, Length::kFull).verdict, Verdict::kMissed);
}

TEST(VerdictTest, SmokeRunAcceptsWhatIsNotExcluded) {
  EXPECT_EQ(AtMost({10.1, 9, 11, 5}, Length::kSmoke), Verdict::kHolds);
  EXPECT_EQ(AtMost({11, 10.5, 11.5, 5}, Length::kSmoke), Verdict::kMissed);
  EXPECT_EQ(AtMost(MeanOf({9.9}), Length::kSmoke), Verdict::kHolds);
  EXPECT_EQ(AtMost(MeanOf({10.1}), Length::kSmoke), Verdict::kMissed);
}

TEST(VerdictTest, NumbersThatAreNoneDoNotHold) {
  for (const Length length : {Length::kSmoke, Length::kQuick, Length::kFull}) {
    EXPECT_EQ(AtMost(Estimate::Exact(std::nan("")), length), Verdict::kMissed);
  }
}

TEST(VerdictTest, FormulasNeedNoRuns) {
  EXPECT_EQ(AtMost(Estimate::Exact(10)), Verdict::kHolds);
  EXPECT_EQ(AtMost(Estimate::Exact(10.1)), Verdict::kMissed);
}

TEST(VerdictTest, WhatNeverHappenedMustHaveHadItsOpportunities) {
  EXPECT_EQ(AtMost(LargestOf({9, 9, 9, 9, 9})), Verdict::kHolds);
  EXPECT_EQ(AtMost(LargestOf({9, 9, 9, 9, 10.1})), Verdict::kMissed);
  EXPECT_EQ(AtMost(LargestOf({9, 9, 9})), Verdict::kNotDecided);
}

TEST(VerdictTest, MoreRunsGrowWithTheSquareOfWhatIsMissing) {
  // Half as wide would do, which takes four times as many runs.
  EXPECT_DOUBLE_EQ(Decide({9, 7, 11, 5}, {.high = kLine}, Length::kFull).more_runs, 15);
  // On the wrong side the other end counts.
  EXPECT_DOUBLE_EQ(Decide({11, 9, 14, 5}, {.high = kLine}, Length::kFull).more_runs, 15);
  EXPECT_TRUE(std::isinf(Decide({10, 9, 11, 5}, {.high = kLine}, Length::kFull).more_runs));
  EXPECT_DOUBLE_EQ(Decide(MeanOf({9}), {.high = kLine}, Length::kFull).more_runs, 4);
  EXPECT_EQ(MoreRunsText({Verdict::kNotDecided, 15}), "about 15 more runs would decide");
  EXPECT_EQ(MoreRunsText({Verdict::kNotDecided, std::numeric_limits<double>::infinity()}),
            "on the line: more runs would hardly decide");
}

// Planted results that a kind judge would call.

TEST(CheatTest, WideIntervalAroundTheLine) {
  // The failed share of one release: five runs, one of them bad.
  const Estimate failed = MeanOf({0, 0, 0.2, 0, 0.34});
  EXPECT_GT(failed.middle, 0.1);
  EXPECT_EQ(Decide(failed, {.high = 0.12}, Length::kFull).verdict, Verdict::kNotDecided)
      << "the middle is below the line";
}

TEST(CheatTest, TwoLuckySeeds) {
  const Estimate lucky = MeanOf({9.0, 9.0001});
  EXPECT_LT(lucky.high, kLine);
  EXPECT_EQ(AtMost(lucky, Length::kQuick), Verdict::kNotDecided);
  EXPECT_EQ(AtMost(lucky, Length::kFull), Verdict::kNotDecided);
}

TEST(CheatTest, BaselineOfOneRun) {
  const Estimate ratio = RatioOf(MeanOf({5, 5.1, 4.9, 5, 5}), MeanOf({100}));
  EXPECT_EQ(Decide(ratio, {.high = 0.5}, Length::kFull).verdict, Verdict::kNotDecided);
}

TEST(CheatTest, MedianOfThreeEqualRuns) {
  EXPECT_EQ(AtMost(MedianOf({9, 9, 9})), Verdict::kNotDecided);
}

TEST(CheatTest, LuckiestOfManyPoints) {
  // Among 20 points that gain nothing, one gains by chance; so it must gain more.
  const Point point{{"x", "1"}};
  Results results(Length::kFull);
  for (const double gain : {0.2, 1.9, 0.6, 1.4, 0.5}) results.Add(point, {{"gain", gain}});
  const auto verdict = [&](const Results& seen) {
    return Decide(seen.Mean(point, "gain"), {.low = 0}, Length::kFull).verdict;
  };
  EXPECT_EQ(verdict(results), Verdict::kHolds);
  EXPECT_EQ(verdict(results.AmongBest(20)), Verdict::kNotDecided);
}

TEST(CheatTest, OrderSeenOnce) {
  EXPECT_EQ(Decide(true, 1, Length::kFull).verdict, Verdict::kNotDecided);
  EXPECT_EQ(Decide(true, 1, Length::kQuick).verdict, Verdict::kNotDecided);
  EXPECT_EQ(Decide(true, 1, Length::kSmoke).verdict, Verdict::kHolds);
  EXPECT_EQ(Decide(true, 5, Length::kFull).verdict, Verdict::kHolds);
  EXPECT_EQ(Decide(false, 1, Length::kFull).verdict, Verdict::kMissed);
}

TEST(JudgementTest, OneMissedRowDecidesAndOneOpenRowLeavesOpen) {
  Judgement judgement(Length::kFull);
  EXPECT_EQ(judgement.verdict(), Verdict::kMissed) << "nothing was asked";
  judgement.AtMost("holds", "", {9, 8, 9.9, 5}, kLine);
  EXPECT_EQ(judgement.verdict(), Verdict::kHolds);
  judgement.AtMost("open", "", {9, 8, 10.1, 5}, kLine);
  EXPECT_EQ(judgement.verdict(), Verdict::kNotDecided);
  judgement.AtMost("missed", "", {12, 11, 13, 5}, kLine).ShortOfLine("known");
  EXPECT_EQ(judgement.verdict(), Verdict::kMissed);
}

TEST(JudgementTest, SmokeRunAsksForTheShapeOnly) {
  Judgement judgement(Length::kSmoke, 1);
  judgement.AtMost("response", "", Estimate::Exact(11), kLine);
  EXPECT_EQ(judgement.verdict(), Verdict::kMissed) << "nothing was asked";
  judgement.Holds("order", "", "a < b", "a < b", true).Shape();
  EXPECT_EQ(judgement.verdict(), Verdict::kHolds);
}

TEST(JudgementTest, EqualFiguresAreDecidedByTheirMargin) {
  Judgement judgement(Length::kFull);
  const Estimate equal = {0.009, -0.024, 0.042, 8};
  EXPECT_EQ(judgement.AtMost("more loss", "", equal, 0).decision.verdict, Verdict::kNotDecided);
  EXPECT_TRUE(judgement.NotAbove("more loss", "", equal, 0, 0.1, "points").holds());
  EXPECT_EQ(judgement.rows().back().line, "≤ 0 + 0.1 points");
  EXPECT_FALSE(judgement.NotAbove("more loss", "", {0.2, 0.05, 0.35, 8}, 0, 0.1, "points").holds());
  EXPECT_TRUE(judgement.Near("relative to 2", "", {1.01, 0.97, 1.05, 8}, 1, 0.05, "x").holds());
  EXPECT_TRUE(judgement.Near("relative to 2", "", {0.9, 0.87, 0.93, 8}, 1, 0.05, "x").missed());
}

}  // namespace
}  // namespace search::lab
