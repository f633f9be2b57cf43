#include "index/core/partition/collection_terms.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "index/core/builder/segment_merger.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"

namespace search::index {
namespace {

class CollectionTermsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto collection = TestCollection::Build(ZipfDocuments(500, 4), {.partition_count = 2});
    ASSERT_TRUE(collection.ok()) << collection.status();
    collection_ = std::move(*collection);
  }

  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  const Segment* segment(size_t i) const { return &collection_->segment(i); }

  // Expects `path` to hold the statistics of a merged segment of the inputs.
  void ExpectAsMerged(const std::vector<CountedSegment>& inputs, const std::string& path) {
    std::vector<MergeInput> merged;
    for (const auto& [segment, live] : inputs) merged.push_back({segment, live});
    ASSERT_TRUE(MergeSegments(merged, Path("merged")).ok());
    const auto expected = Segment::Open(Path("merged"));
    const auto terms = CollectionTerms::Open(path);
    ASSERT_TRUE(terms.ok()) << terms.status();
    EXPECT_EQ((*terms)->document_count(), (*expected)->document_count());
    EXPECT_EQ((*terms)->length_sums(), (*expected)->totals().length_sums);
    EXPECT_EQ((*terms)->terms().term_count(), (*expected)->terms().term_count());
    TermCursor cursor((*expected)->terms());
    while (cursor.Next()) {
      const auto frequency = (*terms)->DocumentFrequency(cursor.key());
      ASSERT_TRUE(frequency.ok()) << frequency.status();
      ASSERT_EQ(*frequency, cursor.entry().document_frequency) << cursor.key();
    }
    EXPECT_EQ(*(*terms)->DocumentFrequency("no-such-word"), 0U);
  }

  TemporaryFolder folder_;
  std::unique_ptr<TestCollection> collection_;
};

TEST_F(CollectionTermsTest, CountsWhatLives) {
  ASSERT_TRUE(CountTerms({}, Path("none")).ok());
  ExpectAsMerged({}, Path("none"));
  LiveDocuments live(segment(0)->document_count());
  for (uint32_t ordinal = 0; ordinal < live.document_count(); ordinal += 3) live.Delete(ordinal);
  const std::vector<CountedSegment> inputs = {{segment(0), &live}, {segment(1)}};
  ASSERT_TRUE(CountTerms(inputs, Path("terms")).ok());
  ExpectAsMerged(inputs, Path("terms"));
}

TEST_F(CollectionTermsTest, PartsAddUp) {
  ASSERT_TRUE(CountTerms({{segment(0)}}, Path("a")).ok());
  ASSERT_TRUE(CountTerms({{segment(1)}}, Path("b")).ok());
  const auto a = CollectionTerms::Open(Path("a"));
  const auto b = CollectionTerms::Open(Path("b"));
  ASSERT_TRUE(AddTerms({a->get(), b->get()}, Path("sum")).ok());
  ExpectAsMerged({{segment(0)}, {segment(1)}}, Path("sum"));
}

TEST_F(CollectionTermsTest, FlippedByteIsFound) {
  ASSERT_TRUE(CountTerms({{segment(0)}}, Path("terms")).ok());
  std::ifstream in(Path("terms"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  for (const size_t at : {size_t{0}, size_t{20}, size_t{1100}, bytes.size() - 1}) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    std::ofstream(Path("changed"), std::ios::binary) << changed;
    EXPECT_EQ(CollectionTerms::Open(Path("changed")).status().code(),
              neptune::StatusCode::kDataLoss)
        << at;
  }
}

}  // namespace
}  // namespace search::index
