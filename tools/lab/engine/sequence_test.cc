#include "tools/lab/engine/sequence.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace search::lab {
namespace {

TEST(SequenceTest, LooksDoubleUntilTheLimit) {
  std::vector<int> counts;
  double spent = 0;
  for (const Look& look : PlanLooks(5, 30)) {
    counts.push_back(look.run_count);
    EXPECT_GT(look.miss, 0);
    spent += look.miss;
  }
  EXPECT_EQ(counts, (std::vector<int>{5, 10, 20, 30}));
  EXPECT_NEAR(spent, kMiss, 1e-12);
}

TEST(SequenceTest, SingleLookIsTheUsualInterval) {
  const std::vector<Look> looks = PlanLooks(5, 5);
  ASSERT_EQ(looks.size(), 1u);
  EXPECT_EQ(looks[0].run_count, 5);
  EXPECT_NEAR(looks[0].miss, kMiss, 1e-12);
}

Judgement WithRow(const Estimate& ours) {
  Judgement judgement(Length::kFull);
  judgement.AtMost("figure", "", ours, 10);
  return judgement;
}

TEST(SequenceTest, GoesOnWhileARowMightStillBeDecided) {
  EXPECT_FALSE(IsWorthMoreRuns(WithRow({9, 8, 9.9, 5}), 5, 40)) << "holds";
  EXPECT_FALSE(IsWorthMoreRuns(WithRow({12, 11, 13, 5}), 5, 40)) << "missed";
  EXPECT_TRUE(IsWorthMoreRuns(WithRow({9, 7, 11, 5}), 5, 40)) << "needs 15 more";
  EXPECT_FALSE(IsWorthMoreRuns(WithRow({9, 7, 11, 40}), 40, 40)) << "at the limit";
  EXPECT_FALSE(IsWorthMoreRuns(WithRow({9.9, 7, 12.8, 5}), 5, 40)) << "needs thousands";
  EXPECT_TRUE(IsWorthMoreRuns(WithRow(MeanOf({9})), 1, 40)) << "too few to say";
}

// Looks at a figure that is exactly on its line, where every call is wrong, as a full run does.
// Returns whether the run ended with a call.
bool CallsWrongly(std::mt19937_64& random, bool is_corrected) {
  std::normal_distribution<double> normal(10, 1);
  std::vector<double> values;
  for (const Look& look : PlanLooks(5, 40)) {
    while (static_cast<int>(values.size()) < look.run_count) values.push_back(normal(random));
    const Estimate ours = MeanOf(values, is_corrected ? look.miss : kMiss);
    if (Decide(ours, {.high = 10}, Length::kFull).verdict != Verdict::kNotDecided) return true;
  }
  return false;
}

TEST(SequenceTest, RepeatedLooksAreNotMoreOftenWrongThanOne) {
  constexpr uint64_t kSeed = 7;
  constexpr int kRuns = 4'000;
  std::mt19937_64 random(kSeed);
  int corrected = 0;
  int naive = 0;
  for (int i = 0; i < kRuns; ++i) {
    corrected += CallsWrongly(random, true);
    naive += CallsWrongly(random, false);
  }
  EXPECT_LE(corrected, kMiss * kRuns * 1.1) << "seed " << kSeed;
  EXPECT_GT(naive, kMiss * kRuns * 2) << "what the correction is for; seed " << kSeed;
}

}  // namespace
}  // namespace search::lab
