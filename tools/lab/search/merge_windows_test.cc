#include "tools/lab/search/merge_windows.h"

#include <gtest/gtest.h>

namespace search::lab {
namespace {

tools::Measurement DueAt(double at_s) {
  tools::Measurement one;
  one.intended_ns = static_cast<int64_t>(at_s * 1e9);
  return one;
}

TEST(MergeWindowsTest, MergesAreReadWithTheirTimes) {
  const std::vector<tools::StatusTable> section = {
      {"Recent merges", {{{"partition", "0"}, {"ended ago (ms)", "500"}, {"took (ms)", "20.5"}}}}};
  const auto merges = MergesOf(section, 10);
  ASSERT_TRUE(merges.ok()) << merges.status();
  ASSERT_EQ(merges->size(), 1U);
  EXPECT_DOUBLE_EQ((*merges)[0].end_s, 9.5);
  EXPECT_DOUBLE_EQ((*merges)[0].begin_s, 9.4795);
}

TEST(MergeWindowsTest, AnotherTableIsRefused) {
  EXPECT_FALSE(MergesOf({{"t", {{{"took (ms)", "1"}}}}}, 10).ok());
  EXPECT_FALSE(MergesOf({{"t", {{{"took (ms)", "1x"}, {"ended ago (ms)", "1"}}}}}, 10).ok());
}

TEST(MergeWindowsTest, QueriesAreDividedByWhetherTheirWindowHadAMerge) {
  // Windows [1, 1.05), [1.05, 1.1), ..., [1.15, 1.2). One merge is in the second one, one in the
  // last two and later, one before all.
  const MergeWindows split =
      SplitByMerges({DueAt(0.99), DueAt(1.01), DueAt(1.06), DueAt(1.12), DueAt(1.17), DueAt(1.21)},
                    {{1.07, 1.08}, {1.151, 5}, {0.2, 0.9}}, 1, 1.2);
  ASSERT_EQ(split.with.size(), 2U);
  EXPECT_EQ(split.with[0].intended_ns, DueAt(1.06).intended_ns);
  EXPECT_EQ(split.with[1].intended_ns, DueAt(1.17).intended_ns);
  ASSERT_EQ(split.without.size(), 2U);
  EXPECT_EQ(split.without[0].intended_ns, DueAt(1.01).intended_ns);
  EXPECT_EQ(split.without[1].intended_ns, DueAt(1.12).intended_ns);
  EXPECT_DOUBLE_EQ(split.with_percent, 50);
}

}  // namespace
}  // namespace search::lab
