#include "neptune/balancing/replica_choice.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace neptune {
namespace {

TEST(ChoosePollTargetsTest, TargetsAreDistinctAndAtMostPollSize) {
  RandomSource random(1);
  for (size_t candidates = 0; candidates < 10; ++candidates) {
    const auto targets = ChoosePollTargets(candidates, 3, random);
    EXPECT_EQ(targets.size(), std::min<size_t>(candidates, 3));
    EXPECT_EQ(std::set<size_t>(targets.begin(), targets.end()).size(), targets.size());
    for (size_t target : targets) EXPECT_LT(target, candidates);
  }
}

TEST(ChoosePollTargetsTest, EverySubsetIsEquallyLikely) {
  RandomSource random(2);
  std::map<std::set<size_t>, int> counts;
  constexpr int kDraws = 60000;
  for (int i = 0; i < kDraws; ++i) {
    const auto targets = ChoosePollTargets(4, 2, random);
    ++counts[{targets.begin(), targets.end()}];
  }
  ASSERT_EQ(counts.size(), 6u);
  for (const auto& [subset, count] : counts) EXPECT_NEAR(count, kDraws / 6, kDraws / 6 * 0.05);
}

TEST(PollTallyTest, LeastLoadedAnswerWinsAndTiesGoToTheFirst) {
  PollTally tally(3);
  EXPECT_EQ(tally.best(), std::nullopt);
  tally.Answer(5, 4);
  tally.Answer(1, 2);
  tally.Answer(7, 2);
  EXPECT_EQ(tally.best(), 1u);
  EXPECT_TRUE(tally.decided());
}

TEST(PollTallyTest, ASecondAnswerOfOneTargetIsNotCounted) {
  PollTally tally(2);
  tally.Answer(0, 4);
  tally.Answer(0, 1);
  EXPECT_FALSE(tally.decided());
}

TEST(PollTallyTest, ATargetThatRefusesIsNotWaitedForOrChosen) {
  PollTally tally(2);
  tally.Refuse(0);
  tally.Refuse(0);
  EXPECT_FALSE(tally.decided());
  tally.Answer(0, 1);
  EXPECT_FALSE(tally.decided());
  tally.Answer(1, 9);
  tally.Refuse(1);
  EXPECT_TRUE(tally.decided());
  EXPECT_EQ(tally.best(), 1u);
  EXPECT_FALSE(tally.refused()[1]);
}

TEST(PollTallyTest, AnIdleServerDecidesAtOnce) {
  PollTally tally(3);
  tally.Answer(5, 4);
  EXPECT_FALSE(tally.decided());
  tally.Answer(1, 0);
  EXPECT_TRUE(tally.decided());
}

TEST(PollTallyTest, ThePapersPolicyWaitsForAll) {
  PollTally tally(2, /*stop_at_idle=*/false);
  tally.Answer(1, 0);
  EXPECT_FALSE(tally.decided());
  tally.Answer(0, 3);
  EXPECT_TRUE(tally.decided());
  EXPECT_EQ(tally.best(), 1u);
}

TEST(ChooseLeastLoadedTest, TiesAreSharedEqually) {
  RandomSource random(3);
  const std::vector<uint32_t> loads = {2, 1, 3, 1, 1};
  std::map<size_t, int> counts;
  for (int i = 0; i < 30000; ++i) ++counts[ChooseLeastLoaded(loads, random)];
  ASSERT_EQ(counts.size(), 3u);
  for (const size_t tied : {1, 3, 4}) EXPECT_NEAR(counts[tied], 10000, 500);
}

TEST(ParseBalancingPolicyTest, EveryPolicyHasItsName) {
  EXPECT_EQ(*ParseBalancingPolicy("random"), BalancingPolicy::kRandom);
  EXPECT_EQ(*ParseBalancingPolicy("round_robin"), BalancingPolicy::kRoundRobin);
  EXPECT_EQ(*ParseBalancingPolicy("broadcast"), BalancingPolicy::kBroadcast);
  EXPECT_EQ(*ParseBalancingPolicy("poll"), BalancingPolicy::kPoll);
  EXPECT_EQ(*ParseBalancingPolicy("probe_pool"), BalancingPolicy::kProbePool);
}

TEST(ParseBalancingPolicyTest, UnknownNameIsRefused) {
  EXPECT_EQ(*ParseBalancingPolicy("poll"), BalancingPolicy::kPoll);
  EXPECT_EQ(ParseBalancingPolicy("best").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace neptune
