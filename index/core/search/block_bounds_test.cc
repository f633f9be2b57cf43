#include "index/core/search/block_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "index/core/search/flat_query.h"

namespace search::index {
namespace {

class BlockBoundsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    collection_ = TestCollection::Build(ZipfDocuments(5000, 1), {})->release();
  }
  static void TearDownTestSuite() { delete collection_; }

  static inline TestCollection* collection_ = nullptr;
};

TEST_F(BlockBoundsTest, NoBlockWithADocumentOfTheUnitsIsBelowTheLeastBound) {
  std::string many = "w0";
  for (int i = 1; i < 60; ++i) many += " OR w" + std::to_string(7 * i);
  for (const std::string& text : {std::string("w0 OR w5 OR w400"), std::string("w5"), many}) {
    FlatQuery query(*collection_, text);
    QueryWords::Decode(query.words().scoring());
    const BlockBounds bounds(query.words().scoring(), query.evaluation());
    uint16_t most = 0;
    for (uint32_t ordinal = 0; ordinal < query.evaluation()->document_count(); ++ordinal) {
      ScoreUnits units = query.space().StaticRankUnits(ordinal);
      for (WordList* list : query.words().scoring()) units += UnitsOf(*list, ordinal);
      const uint16_t bound = bounds[ordinal / kDocumentBlockSize];
      ASSERT_GE(bound, bounds.Least(units)) << text << ", document " << ordinal;
      ASSERT_LE(bound, bounds.max());
      most = std::max(most, bounds.Least(units));
    }
    EXPECT_GT(most, 0) << text;
  }
}

TEST_F(BlockBoundsTest, FindsTheBlocksOverABoundThatTheMasksLeave) {
  FlatQuery query(*collection_, "w0 OR w5");
  QueryWords::Decode(query.words().scoring());
  const BlockBounds bounds(query.words().scoring(), query.evaluation());
  const size_t block_count = query.space().impacts.block_count();
  std::vector<uint64_t> masks(block_count);
  for (size_t i = 0; i < block_count; ++i) masks[i] = i % 3;
  for (const int least : {0, bounds.max() / 2, bounds.max() * 3 / 4}) {
    std::vector<uint32_t> all;
    std::vector<uint32_t> masked;
    for (uint32_t block = 0; block < block_count; ++block) {
      if (bounds[block] < least) continue;
      all.push_back(block);
      if (masks[block] != 0) masked.push_back(block);
    }
    EXPECT_EQ(bounds.Find(static_cast<uint16_t>(least), {}), all);
    EXPECT_EQ(bounds.Find(static_cast<uint16_t>(least), masks), masked);
  }
}

TEST_F(BlockBoundsTest, TheLeastBoundOfNoUnitsIsZeroAndOfManyIsNot) {
  FlatQuery query(*collection_, "w0 OR w5");
  const BlockBounds bounds(query.words().scoring(), query.evaluation());
  EXPECT_EQ(bounds.Least(0), 0);
  EXPECT_GT(bounds.Least(UINT32_MAX), 0);
}

}  // namespace
}  // namespace search::index
