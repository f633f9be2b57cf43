#include "index/core/search/term_bitmaps.h"

#include <gtest/gtest.h>

#include <bit>

#include "index/core/segment/posting_cursor.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

constexpr uint64_t kSeed = 20260502;

class TermBitmapsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto collection = TestCollection::Build(ZipfDocuments(3000, kSeed), {});
    ASSERT_TRUE(collection.ok()) << collection.status();
    collection_ = std::move(*collection);
  }
  const Segment& segment() const { return collection_->segment(0); }

  std::unique_ptr<TestCollection> collection_;
};

TEST_F(TermBitmapsTest, HoldTheDocumentsOfFrequentTermsOnly) {
  const TermBitmaps bitmaps(segment());
  EXPECT_EQ(bitmaps.word_count() % kBitmapStride, 0u);
  size_t frequent_count = 0;
  TermCursor term(segment().terms());
  while (term.Next()) {
    const TermEntry& entry = term.entry();
    const bool is_frequent =
        entry.document_frequency * kBitmapDocumentsPerPosting >= segment().document_count();
    const uint64_t* bitmap = bitmaps.Find(entry.ordinal);
    ASSERT_EQ(bitmap != nullptr, is_frequent) << term.key();
    if (!is_frequent) continue;
    ++frequent_count;
    ASSERT_EQ(CountBits(bitmap, bitmaps.word_count()), entry.document_frequency);
    PostingCursor cursor(segment().postings(), entry, segment().document_count());
    while (cursor.Next() != kNoDocument) ASSERT_TRUE(HoldsDocument(bitmap, cursor.ordinal()));
  }
  EXPECT_EQ(bitmaps.bitmap_count(), frequent_count);
  EXPECT_GT(frequent_count, 3u);
}

TEST_F(TermBitmapsTest, TheMostFrequentComeFirstWhenMemoryIsShort) {
  const TermBitmaps all(segment());
  const TermBitmaps one(segment(), all.word_count() * sizeof(uint64_t));
  ASSERT_EQ(one.bitmap_count(), 1u);
  uint32_t largest = 0;
  uint32_t kept = 0;
  TermCursor term(segment().terms());
  while (term.Next()) {
    largest = std::max(largest, term.entry().document_frequency);
    if (one.Find(term.entry().ordinal) != nullptr) kept = term.entry().document_frequency;
  }
  EXPECT_EQ(kept, largest);
  EXPECT_EQ(TermBitmaps(segment(), 0).bitmap_count(), 0u);
}

TEST(BitmapFilterTest, CountsWhatPasses) {
  std::vector<uint64_t> a(16, 0xFF);
  std::vector<uint64_t> b(16, 0x3C);
  std::vector<uint64_t> c(16, 0x08);
  const BitmapFilter filter{.all = {a.data(), b.data()}, .none = {c.data()}};
  EXPECT_EQ(CountPassing(filter, 16), 16u * 3);
  EXPECT_TRUE(filter.Passes(64 + 2));
  EXPECT_FALSE(filter.Passes(64 + 3));
  EXPECT_FALSE(filter.Passes(64 + 6));
  EXPECT_EQ(CountBits(a.data(), 16), 16u * 8);
}

}  // namespace
}  // namespace search::index
