#include "neptune/service/retry_budget.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

TEST(RetryBudgetTest, GivesItsReserveThenItsShare) {
  RetryBudget budget(0.1, 3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(budget.Take());
  EXPECT_FALSE(budget.Take());
  for (int i = 0; i < 9; ++i) budget.OnCall();
  EXPECT_FALSE(budget.Take());
  budget.OnCall();
  EXPECT_TRUE(budget.Take());
  EXPECT_FALSE(budget.Take());
}

TEST(RetryBudgetTest, NeverHoldsMoreThanItsReserve) {
  RetryBudget budget(0.5, 2);
  for (int i = 0; i < 100; ++i) budget.OnCall();
  EXPECT_TRUE(budget.Take());
  EXPECT_TRUE(budget.Take());
  EXPECT_FALSE(budget.Take());
}

}  // namespace
}  // namespace neptune
