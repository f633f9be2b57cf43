// Seeds that must pass, planted bugs that must be found, and runs that must repeat.

#include <gtest/gtest.h>

#include "tests/chaos/chaos_run.h"

namespace neptune::chaos {
namespace {

constexpr uint64_t kSeedCount = 30;
// Each planted bug must be found by one of this many seeds.
constexpr uint64_t kCanarySeedCount = 30;

TEST(ChaosTest, NoSeedViolatesACheck) {
  Outcome sum;
  for (uint64_t seed = 1; seed <= kSeedCount; ++seed) {
    const FaultSchedule schedule = FaultsOf(seed);
    const Outcome outcome = RunChaos(seed, schedule);
    ASSERT_FALSE(outcome.violation.has_value())
        << "seed " << seed << ": " << outcome.violation->ToString() << "\nwith\n"
        << ToString(Minimise(seed, schedule, *outcome.violation));
    sum.call_count += outcome.call_count;
    sum.failed_count += outcome.failed_count;
    sum.must_succeed_count += outcome.must_succeed_count;
    sum.must_know_count += outcome.must_know_count;
    sum.must_offer_count += outcome.must_offer_count;
    sum.must_forget_count += outcome.must_forget_count;
  }
  // The faults had effects, and the checks applied.
  EXPECT_GT(sum.failed_count, sum.call_count / 100);
  EXPECT_GT(sum.must_succeed_count, 1000u);
  EXPECT_GT(sum.must_know_count, 100'000u);
  EXPECT_GT(sum.must_offer_count, 50'000u);
  EXPECT_GT(sum.must_forget_count, 500u);
}

TEST(ChaosTest, TheSameSeedGivesTheSameRun) {
  EXPECT_EQ(RunChaos(3, FaultsOf(3)).trace_hash, RunChaos(3, FaultsOf(3)).trace_hash);
  EXPECT_NE(RunChaos(3, FaultsOf(3)).trace_hash, RunChaos(4, FaultsOf(3)).trace_hash);
}

class CanaryTest : public testing::TestWithParam<PlantedBug> {};

TEST_P(CanaryTest, PlantedBugIsFound) {
  for (uint64_t seed = 1; seed <= kCanarySeedCount; ++seed) {
    if (RunChaos(seed, FaultsOf(seed), GetParam()).violation) return;
  }
  ADD_FAILURE() << NameOf(GetParam()) << " is not found by " << kCanarySeedCount << " seeds";
}

INSTANTIATE_TEST_SUITE_P(Bugs, CanaryTest, testing::ValuesIn(AllPlantedBugs()),
                         [](const auto& info) { return std::string(NameOf(info.param)); });

TEST(MinimiseTest, KeepsOnlyTheFaultsThatTheBugNeeds) {
  constexpr uint64_t kSeed = 3;
  const FaultSchedule schedule = FaultsOf(kSeed);
  const Outcome outcome = RunChaos(kSeed, schedule, PlantedBug::kNoExpiry);
  ASSERT_TRUE(outcome.violation.has_value());
  const FaultSchedule fewest = Minimise(kSeed, schedule, *outcome.violation, PlantedBug::kNoExpiry);
  ASSERT_EQ(fewest.size(), 1u) << ToString(fewest);
  EXPECT_GE(fewest[0].end - fewest[0].begin, std::chrono::seconds(6))
      << "a node that was away: " << fewest[0].ToString();
}

}  // namespace
}  // namespace neptune::chaos
