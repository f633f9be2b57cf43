#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "index/core/testing/collection.h"
#include "index/tier/index_tier_conformance.h"
#include "index/tier/registry.h"

namespace search::index {
namespace {

INSTANTIATE_TEST_SUITE_P(Registered, IndexTierConformance,
                         testing::ValuesIn(RegisteredIndexTiers().begin(),
                                           RegisteredIndexTiers().end()),
                         VariantName);

// Bounds of tier 2 that were written for another choice of tiers would be believed.
TEST(SegmentCollectionTest, ForgetsTheBoundsOfAnEarlierChoiceOfTiers) {
  const TemporaryFolder folder;
  std::vector<std::string> directories;
  for (uint64_t i = 0; i < 2; ++i) {
    directories.push_back(folder.path() + "/" + std::to_string(i));
    const auto builder = CreateTierBuilder("segment", {.directory = directories.back()});
    ASSERT_TRUE(builder.ok()) << builder.status();
    ASSERT_TRUE((*builder)->Add({.doc_id = i, .title = "apple", .body = "apple"}).ok());
    ASSERT_TRUE((*builder)->Finish().ok());
  }
  TierQuery query;
  query.set_query("apple");
  query.set_hit_count_max(10);
  for (const size_t tier1_count : {1, 0}) {
    ASSERT_TRUE(FinishTierCollection("segment", directories, {.tier1_count = tier1_count}).ok());
    const auto tier = OpenIndexTier("segment", directories[0]);
    ASSERT_TRUE(tier.ok()) << tier.status();
    const auto answer = (*tier)->Search(query, {});
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->has_other_tier(), tier1_count == 1);
  }
}

TEST(IndexTierRegistryTest, NamesTheKnownOnesForAnUnknownOne) {
  const auto tier = OpenIndexTier("paper", "/nowhere");
  EXPECT_EQ(tier.status().code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_EQ(neptune::ToStd(tier.status().message()),
            "index tier 'paper' is unknown; known: rocksdb_postings, segment, xapian");
}

}  // namespace
}  // namespace search::index
