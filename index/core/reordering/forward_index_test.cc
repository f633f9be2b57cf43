#include "index/core/reordering/forward_index.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "index/core/segment/posting_cursor.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

class ForwardIndexTest : public testing::Test {
 protected:
  void SetUp() override {
    auto collection = TestCollection::Build(ZipfDocuments(300, 9), {});
    ASSERT_TRUE(collection.ok()) << collection.status();
    collection_ = std::move(*collection);
  }

  const Segment& segment() const { return collection_->segment(0); }

  std::unique_ptr<TestCollection> collection_;
};

TEST_F(ForwardIndexTest, HoldsThePostingsOfAllTermsOfSeveralDocuments) {
  std::multiset<std::pair<uint32_t, uint32_t>> expected;  // ordinal, frequency of a term
  TermCursor terms(segment().terms());
  while (terms.Next()) {
    const uint32_t frequency = terms.entry().document_frequency;
    PostingCursor cursor(segment().postings(), terms.entry(), segment().document_count());
    while (frequency > 1 && cursor.Next() != kNoDocument) {
      expected.emplace(cursor.ordinal(), frequency);
    }
  }
  const auto index = MakeForwardIndex(segment(), size_t{64} << 20);
  ASSERT_TRUE(index.ok()) << index.status();
  ASSERT_EQ(index->document_count(), segment().document_count());
  std::map<uint32_t, uint32_t> frequencies;
  for (const uint32_t term : index->terms) ++frequencies[term];
  std::multiset<std::pair<uint32_t, uint32_t>> found;
  for (uint32_t ordinal = 0; ordinal < index->document_count(); ++ordinal) {
    for (uint64_t i = index->starts[ordinal]; i < index->starts[ordinal + 1]; ++i) {
      found.emplace(ordinal, frequencies[index->terms[i]]);
    }
  }
  EXPECT_EQ(found, expected);
  for (uint32_t term = 1; term < index->term_count; ++term) {
    ASSERT_LE(frequencies[term], frequencies[term - 1]) << "frequent terms come first";
  }
}

TEST_F(ForwardIndexTest, RareTermsAreLeftOutWhereMemoryIsShort) {
  const auto whole = MakeForwardIndex(segment(), size_t{64} << 20);
  const auto part = MakeForwardIndex(segment(), 40'000);
  ASSERT_TRUE(whole.ok() && part.ok()) << part.status();
  EXPECT_GT(part->term_count, 0U);
  EXPECT_LT(part->term_count, whole->term_count);
  EXPECT_LE(part->terms.size() * 8, 40'000U);
  EXPECT_EQ(MakeForwardIndex(segment(), 1000).status().code(),
            neptune::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace search::index
