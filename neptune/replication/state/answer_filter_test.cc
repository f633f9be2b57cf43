#include "neptune/replication/state/answer_filter.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

constexpr Lsn kKept = 1600;

RequestId Id(uint64_t number) { return {.client = 77, .number = number}; }

TEST(AnswerFilterTest, AnEmptyOneHasNothing) {
  const AnswerFilter filter(kKept);
  EXPECT_FALSE(filter.MayHave(1, Id(1)));
}

TEST(AnswerFilterTest, HasEveryRememberedIdAndHardlyAnyOther) {
  AnswerFilter filter(kKept);
  constexpr Lsn kCount = 5 * kKept;
  int wrong = 0;
  for (Lsn lsn = 1; lsn <= kCount; ++lsn) {
    if (filter.MayHave(lsn, Id(lsn))) ++wrong;
    filter.Add(lsn, Id(lsn));
    const Lsn oldest = lsn >= kKept ? lsn + 1 - kKept : 1;
    ASSERT_TRUE(filter.MayHave(lsn, Id(oldest))) << lsn;
    ASSERT_TRUE(filter.MayHave(lsn, Id((oldest + lsn) / 2))) << lsn;
    ASSERT_TRUE(filter.MayHave(lsn + 1, Id(lsn))) << lsn;
  }
  EXPECT_LE(wrong, static_cast<int>(kCount / 20));
}

TEST(AnswerFilterTest, ForgetsIdsThatAreTooOld) {
  AnswerFilter filter(kKept);
  for (Lsn lsn = 1; lsn <= kKept; ++lsn) filter.Add(lsn, Id(lsn));
  int known = 0;
  for (Lsn lsn = 1; lsn <= kKept; ++lsn) {
    if (filter.MayHave(2 * kKept, Id(lsn))) ++known;
  }
  EXPECT_EQ(known, 0);
}

TEST(AnswerFilterTest, GapsInTheLogMakeNoDifference) {
  AnswerFilter filter(kKept);
  filter.Add(10, Id(1));
  filter.Add(kKept + 8, Id(2));
  EXPECT_TRUE(filter.MayHave(kKept + 9, Id(1)));
  EXPECT_TRUE(filter.MayHave(kKept + 9, Id(2)));
}

TEST(AnswerFilterTest, WritesBeforeItsBeginningMayHaveBeenThere) {
  AnswerFilter filter(kKept);
  filter.Add(1, Id(1));
  filter.Begin(100);
  EXPECT_TRUE(filter.MayHave(101, Id(5)));
  EXPECT_TRUE(filter.MayHave(100 + kKept - 1, Id(5)));
  EXPECT_FALSE(filter.MayHave(100 + kKept, Id(5)));
  filter.Begin(0);
  EXPECT_FALSE(filter.MayHave(1, Id(1)));
  filter.Begin(~Lsn{0});
  EXPECT_TRUE(filter.MayHave(1, Id(5)));
}

}  // namespace
}  // namespace neptune
