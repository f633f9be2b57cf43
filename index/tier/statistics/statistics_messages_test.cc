#include "index/tier/statistics/statistics_messages.h"

#include <gtest/gtest.h>

#include <string>

namespace search::index {
namespace {

using neptune::StatusCode;

CountedPartition CountedOf(size_t term_count) {
  CountedPartition counted{.index_version = 3, .change_count = 9, .changed = {}};
  counted.changed.published_document_count = 100;
  counted.changed.published_length_sums.fill(1000);
  counted.changed.document_difference = -2;
  counted.changed.length_differences.fill(-20);
  for (size_t i = 0; i < term_count; ++i) {
    counted.changed.terms.push_back({std::to_string(100'000 + i), i % 2 == 0 ? -1 : 2, 5});
  }
  return counted;
}

TEST(StatisticsMessagesTest, PagesAddUpToWhatWasCounted) {
  for (const size_t term_count : {size_t{0}, kPageTermsMax, 2 * kPageTermsMax + 1}) {
    const CountedPartition counted = CountedOf(term_count);
    ChangedTermsSum whole;
    ASSERT_TRUE(whole.Add(counted.changed).ok());
    ChangedTermsSum by_pages;
    uint64_t change_count = 0;
    for (const ChangedTermsPage& page : PagesOf(counted)) {
      EXPECT_LE(page.terms_size(), static_cast<int>(kPageTermsMax));
      const auto read = ReadPage(page.SerializeAsString());
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(read->index_version, 3U);
      change_count += read->change_count;
      ASSERT_TRUE(by_pages.Add(read->changed).ok());
    }
    EXPECT_EQ(change_count, 9U);
    const CollectionNumbers want = whole.Numbers();
    const CollectionNumbers got = by_pages.Numbers();
    EXPECT_EQ(got.document_count, 98U);
    EXPECT_EQ(got.document_count, want.document_count);
    EXPECT_EQ(got.length_sums, want.length_sums);
    EXPECT_EQ(got.document_frequencies, want.document_frequencies);
  }
}

TEST(StatisticsMessagesTest, ContradictoryStatisticsAreRefused) {
  ChangedTermsPage page = PagesOf(CountedOf(2))[0];
  ChangedTermsPage changed = page;
  changed.mutable_terms()->SwapElements(0, 1);
  EXPECT_EQ(ReadPage(changed.SerializeAsString()).status().code(), StatusCode::kInvalidArgument);
  changed = page;
  changed.add_published_length_sums(1);
  EXPECT_EQ(ReadPage(changed.SerializeAsString()).status().code(), StatusCode::kInvalidArgument);
  changed = page;
  changed.mutable_terms(0)->clear_key();
  EXPECT_EQ(ReadPage(changed.SerializeAsString()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadPage("\xff").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace search::index
