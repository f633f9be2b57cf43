#include "neptune/scheduling/guarantee_credit.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

constexpr size_t kHigh = 0;
constexpr size_t kLow = 1;

// Every class always waits; the class that is due goes first, else `kHigh`. Returns the number of
// picks of class `of`.
int PicksOf(size_t of, int count, const std::vector<double>& consumption, GuaranteeCredit* credit) {
  int picks = 0;
  for (int i = 0; i < count; ++i) {
    const size_t next = credit->Of(kLow) > 0 ? kLow : kHigh;
    credit->OnPicked(next, consumption);
    picks += next == of;
  }
  return picks;
}

TEST(GuaranteeCreditTest, AClassThatIsDueGetsItsShare) {
  GuaranteeCredit credit({0, 0.2});
  EXPECT_NEAR(PicksOf(kLow, 1'000, {1, 1}, &credit), 200, 1);
}

TEST(GuaranteeCreditTest, SharesMeasureConsumption) {
  GuaranteeCredit credit({0, 0.2});
  const int low = PicksOf(kLow, 1'000, {1, 4}, &credit);
  EXPECT_NEAR(4.0 * low / (4.0 * low + (1'000 - low)), 0.2, 0.01);
}

TEST(GuaranteeCreditTest, PastOveruseDoesNotHoldAClassBack) {
  GuaranteeCredit credit({0, 0.2});
  for (int i = 0; i < 1'000; ++i) credit.OnPicked(kLow, {1, 1});
  EXPECT_EQ(PicksOf(kLow, 10, {1, 1}, &credit), 1);
  EXPECT_EQ(PicksOf(kLow, 10, {1, 1}, &credit), 2);
}

TEST(GuaranteeCreditTest, UnusedCreditExpires) {
  GuaranteeCredit credit({0, 0.2});
  for (int i = 0; i < 1'000; ++i) credit.OnPicked(kHigh, {1, 1});
  EXPECT_LE(PicksOf(kLow, 10, {1, 1}, &credit), 2 + 2);
}

TEST(GuaranteeCreditTest, ClassWithoutAGuaranteeIsNeverDue) {
  GuaranteeCredit credit({0, 0});
  EXPECT_EQ(PicksOf(kLow, 1'000, {1, 1}, &credit), 0);
}

}  // namespace
}  // namespace neptune
