#include <gtest/gtest.h>

#include "cache/registry.h"
#include "cache/result_cache_conformance.h"

namespace search::cache {
namespace {

INSTANTIATE_TEST_SUITE_P(Registered, ResultCacheConformance,
                         testing::ValuesIn(RegisteredResultCaches().begin(),
                                           RegisteredResultCaches().end()),
                         VariantName);

TEST(ResultCacheRegistryTest, NamesTheKnownOnesForAnUnknownOne) {
  const auto cache = MakeResultCache("paper", ResultCacheOptions());
  EXPECT_EQ(cache.status().code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_EQ(neptune::ToStd(cache.status().message()),
            "result cache 'paper' is unknown; known: memory");
}

TEST(ResultCacheRegistryTest, MakesByName) {
  for (const ResultCacheVariant& variant : RegisteredResultCaches()) {
    const auto cache = MakeResultCache(variant.name, ResultCacheOptions());
    ASSERT_TRUE(cache.ok()) << cache.status();
    EXPECT_EQ((*cache)->name(), variant.name);
  }
}

TEST(MemoryCacheTest, RefusesOptionsOutOfRange) {
  ResultCacheOptions options;
  options.shard_count = 0;
  EXPECT_EQ(MakeResultCache("memory", options).status().code(),
            neptune::StatusCode::kInvalidArgument);
  options.shard_count = 16;
  options.size_max = 1000;
  EXPECT_EQ(MakeResultCache("memory", options).status().code(),
            neptune::StatusCode::kInvalidArgument);
}

TEST(MemoryCacheTest, RefusesAValueLargerThanAShard) {
  ResultCacheOptions options;
  options.size_max = 64u << 10;
  options.shard_count = 16;
  const auto cache = MakeResultCache("memory", options).value();
  EXPECT_EQ(*cache->Insert({"q", 1}, {std::string(5000, 'x'), {}}, neptune::TimePoint()), false);
  EXPECT_EQ(*cache->Insert({"q", 1}, {std::string(3000, 'x'), {}}, neptune::TimePoint()), true);
}

}  // namespace
}  // namespace search::cache
