#include "index/core/search/impact_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "index/core/segment/posting_cursor.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

class ImpactTableTest : public testing::Test {
 protected:
  void SetUp() override {
    auto collection = TestCollection::Build(ZipfDocuments(3000, 11), {});
    ASSERT_TRUE(collection.ok()) << collection.status();
    collection_ = std::move(*collection);
    scorer_ = std::make_unique<Scorer>(collection_->statistics(0).mean_lengths(), RankingOptions());
  }

  const Segment& segment() const { return collection_->segment(0); }

  // Impacts of all postings of the term, one by one.
  std::vector<Impact> ImpactsOf(const TermEntry& entry, std::vector<uint32_t>* ordinals) const {
    std::vector<Impact> impacts;
    PostingCursor cursor(segment().postings(), entry, segment().document_count());
    while (cursor.Next() != kNoDocument) {
      ordinals->push_back(cursor.ordinal());
      impacts.push_back(
          scorer_->ToImpact({cursor.frequency(Field::kTitle), cursor.frequency(Field::kBody),
                             cursor.frequency(Field::kExtra)},
                            segment().length_codes()[cursor.ordinal()]));
    }
    return impacts;
  }

  std::unique_ptr<TestCollection> collection_;
  std::unique_ptr<Scorer> scorer_;
};

TEST_F(ImpactTableTest, HoldsEveryPostingOfTheLongerLists) {
  const ImpactTable table(segment(), *scorer_);
  size_t dense_count = 0;
  size_t other_count = 0;
  TermCursor terms(segment().terms());
  while (terms.Next()) {
    const TermEntry& entry = terms.entry();
    const ImpactList* list = table.Find(entry);
    if (entry.block_count() == 1) {
      EXPECT_EQ(list, nullptr);
      continue;
    }
    ASSERT_NE(list, nullptr) << terms.key();
    std::vector<uint32_t> ordinals;
    const std::vector<Impact> expected = ImpactsOf(entry, &ordinals);
    ASSERT_EQ(list->posting_count, expected.size());
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), list->impacts)) << terms.key();
    EXPECT_EQ(list->impact_max, *std::max_element(expected.begin(), expected.end()));
    EXPECT_EQ(list->is_dense(), entry.document_frequency * 64 >= segment().document_count());
    (list->is_dense() ? dense_count : other_count) += 1;
    for (uint32_t block = 0; block < entry.block_count(); ++block) {
      const auto begin = expected.begin() + block * kPostingBlockSize;
      const auto end = std::min(begin + kPostingBlockSize, expected.end());
      ASSERT_GE(FromImpactBound(table.PostingBlockBound(entry, block)),
                *std::max_element(begin, end));
    }
  }
  EXPECT_GT(dense_count, 10U);
  EXPECT_EQ(other_count, 0U) << "of 3,000 documents, 129 postings are dense";
}

TEST_F(ImpactTableTest, BlocksOfDenseListsAreThoseOfTheDocuments) {
  const ImpactTable table(segment(), *scorer_);
  const TermEntry entry = **segment().terms().Find("w5");
  const ImpactList& list = *table.Find(entry);
  ASSERT_TRUE(list.is_dense());
  std::vector<uint32_t> ordinals;
  const std::vector<Impact> impacts = ImpactsOf(entry, &ordinals);
  uint32_t bits = 0;
  for (size_t block = 0; block < table.block_count(); ++block) {
    EXPECT_EQ(list.firsts[block], bits);
    bits += static_cast<uint32_t>(std::popcount(list.documents[block]));
    if (list.documents[block] == 0) {
      EXPECT_EQ(list.maxima[block], 0);
    }
  }
  EXPECT_EQ(bits, ordinals.size());
  for (size_t i = 0; i < ordinals.size(); ++i) {
    EXPECT_TRUE(HoldsDocument(list.documents, ordinals[i]));
    EXPECT_GE(FromImpactBound(list.maxima[ordinals[i] / 64]), impacts[i]);
  }
}

TEST_F(ImpactTableTest, BestImpactsAreReached) {
  const ImpactTable table(segment(), *scorer_);
  const TermEntry entry = **segment().terms().Find("w0");
  ASSERT_GT(entry.document_frequency, 1000U);
  std::vector<uint32_t> ordinals;
  std::vector<Impact> impacts = ImpactsOf(entry, &ordinals);
  std::sort(impacts.begin(), impacts.end(), std::greater<>());
  for (size_t i = 0; i < kBestCounts.size(); ++i) {
    const Impact exact = impacts[kBestCounts[i] - 1];
    const Impact best = table.Find(entry)->best[i];
    EXPECT_LE(best, exact);
    EXPECT_GT(best + 256, exact);
  }
}

TEST_F(ImpactTableTest, MemoryForDenseListsGoesToTheMostFrequent) {
  const ImpactTable whole(segment(), *scorer_);
  const ImpactTable none(segment(), *scorer_, {.dense_size_max = 0});
  const ImpactTable few(segment(), *scorer_, {.dense_size_max = 3 * 13 * whole.block_count()});
  uint32_t least_dense = UINT32_MAX;
  uint32_t most_other = 0;
  size_t dense_count = 0;
  TermCursor terms(segment().terms());
  while (terms.Next()) {
    const TermEntry& entry = terms.entry();
    if (entry.block_count() == 1) continue;
    EXPECT_FALSE(none.Find(entry)->is_dense());
    const bool is_dense = few.Find(entry)->is_dense();
    dense_count += is_dense ? 1 : 0;
    if (is_dense) {
      least_dense = std::min(least_dense, entry.document_frequency);
    } else {
      most_other = std::max(most_other, entry.document_frequency);
    }
  }
  EXPECT_GT(dense_count, 0U);
  EXPECT_LE(dense_count, 3U);
  EXPECT_GE(least_dense, most_other);
}

}  // namespace
}  // namespace search::index
