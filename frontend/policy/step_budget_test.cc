#include "frontend/policy/step_budget.h"

#include <gtest/gtest.h>

#include <random>

namespace search::frontend {
namespace {

using neptune::Duration;
using neptune::TimePoint;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr BudgetStep kSteps[] = {BudgetStep::kCache, BudgetStep::kGate,      BudgetStep::kTier,
                                 BudgetStep::kTier,  BudgetStep::kSpelling,  BudgetStep::kTier,
                                 BudgetStep::kTier,  BudgetStep::kDocuments, BudgetStep::kDetails};
const TimePoint kReceived = TimePoint() + seconds(100);

TEST(StepBudgetTest, AStepKeepsItsOwnLimitWhileTimeIsLeft) {
  const StepBudget budget(kReceived, seconds(10));
  EXPECT_EQ(budget.EndOf(BudgetStep::kTier, milliseconds(500), kReceived + milliseconds(20)),
            kReceived + milliseconds(520));
}

TEST(StepBudgetTest, AStepGetsAShareOfWhatIsLeft) {
  const StepBudget budget(kReceived, milliseconds(100));
  EXPECT_EQ(budget.deadline(), kReceived + milliseconds(95));
  EXPECT_EQ(budget.EndOf(BudgetStep::kTier, seconds(1), kReceived),
            kReceived + milliseconds(95) * 60 / 100);
  const TimePoint late = kReceived + milliseconds(85);
  EXPECT_EQ(budget.EndOf(BudgetStep::kDocuments, seconds(1), late), late + milliseconds(9));
}

TEST(StepBudgetTest, NothingIsLeftAfterTheDeadline) {
  const StepBudget budget(kReceived, milliseconds(100));
  const TimePoint late = kReceived + milliseconds(95);
  EXPECT_TRUE(budget.IsSpent(late));
  for (const BudgetStep step : kSteps) EXPECT_EQ(budget.EndOf(step, seconds(1), late), late);
  EXPECT_EQ(budget.EndOf(BudgetStep::kTier, seconds(1), late + seconds(1)), late + seconds(1));
}

TEST(StepBudgetTest, WritingTheAnswerTakesAFewMillisecondsOfAnyTimeout) {
  EXPECT_EQ(StepBudget(kReceived, seconds(10)).deadline(), kReceived + milliseconds(9990));
  EXPECT_EQ(StepBudget(kReceived, milliseconds(2)).deadline(),
            kReceived + std::chrono::microseconds(1900));
}

// Whatever steps take, the next one has time as long as each ends in time, and none ends after the
// deadline.
TEST(StepBudgetTest, StepsThatUseAllTheyGetStillEndInTime) {
  std::mt19937 random(7);
  for (int run = 0; run < 1000; ++run) {
    const Duration timeout = milliseconds(1 + random() % 5000);
    const StepBudget budget(kReceived, timeout);
    TimePoint now = kReceived;
    for (const BudgetStep step : kSteps) {
      const TimePoint end = budget.EndOf(step, milliseconds(1 + random() % 1000), now);
      EXPECT_GT(end, now) << "seed 7, run " << run;
      EXPECT_LE(end, budget.deadline()) << "seed 7, run " << run;
      now = end;
    }
    EXPECT_LE(budget.deadline(), budget.end());
  }
}

}  // namespace
}  // namespace search::frontend
