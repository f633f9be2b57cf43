#include "frontend/policy/reload_budget.h"

#include <gtest/gtest.h>

namespace search::frontend {
namespace {

using neptune::TimePoint;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{std::chrono::hours(1)};

int TakenOf(int asked, ReloadBudget* budget, uint64_t miss_count, TimePoint now) {
  int taken = 0;
  for (int i = 0; i < asked; ++i) taken += budget->Take(miss_count, now) ? 1 : 0;
  return taken;
}

TEST(ReloadBudgetTest, AUserOfAnIdleServiceGetsHisReloads) {
  ReloadBudget budget(0.1);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(budget.Take(0, kStart + i * seconds(1))) << i;
}

TEST(ReloadBudgetTest, ABurstIsBounded) {
  ReloadBudget budget(0.1);
  EXPECT_EQ(TakenOf(1000, &budget, 0, kStart), static_cast<int>(kReloadBurst));
  EXPECT_EQ(TakenOf(1000, &budget, 0, kStart + milliseconds(500)), 0);
  EXPECT_EQ(TakenOf(1000, &budget, 0, kStart + milliseconds(1000)), 1);
  EXPECT_EQ(TakenOf(1000, &budget, 0, kStart + std::chrono::hours(1)),
            static_cast<int>(kReloadBurst));
}

TEST(ReloadBudgetTest, ReloadsAreAShareOfTheSearchesThatMiss) {
  ReloadBudget budget(0.1);
  (void)TakenOf(1000, &budget, 1'000'000, kStart);
  int taken = 0;
  for (uint64_t miss = 1; miss <= 1000; ++miss) {
    taken += TakenOf(5, &budget, 1'000'000 + miss, kStart);
  }
  EXPECT_GE(taken, 99);
  EXPECT_LE(taken, 100);
}

TEST(ReloadBudgetTest, TimeAndCountsThatStepBackGiveNothing) {
  ReloadBudget budget(0.1);
  (void)TakenOf(1000, &budget, 500, kStart);
  EXPECT_FALSE(budget.Take(0, kStart - seconds(10)));
  EXPECT_FALSE(budget.Take(500, kStart));
}

TEST(ReloadBudgetTest, AShareOfOneIsNoLimitAndOfZeroLeavesOneASecond) {
  ReloadBudget all(1);
  EXPECT_EQ(TakenOf(1000, &all, 0, kStart), 1000);
  ReloadBudget none(0);
  (void)TakenOf(1000, &none, 0, kStart);
  EXPECT_EQ(TakenOf(1000, &none, 1'000'000, kStart + seconds(3)), 3);
}

}  // namespace
}  // namespace search::frontend
