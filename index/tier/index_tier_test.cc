#include <gtest/gtest.h>

#include "index/tier/index_tier_conformance.h"
#include "index/tier/registry.h"

namespace search::index {
namespace {

INSTANTIATE_TEST_SUITE_P(Registered, IndexTierConformance,
                         testing::ValuesIn(RegisteredIndexTiers().begin(),
                                           RegisteredIndexTiers().end()),
                         VariantName);

TEST(IndexTierRegistryTest, NamesTheKnownOnesForAnUnknownOne) {
  const auto tier = OpenIndexTier("paper", "/nowhere");
  EXPECT_EQ(tier.status().code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_EQ(neptune::ToStd(tier.status().message()),
            "index tier 'paper' is unknown; known: rocksdb_postings, segment, xapian");
}

}  // namespace
}  // namespace search::index
