#include <gtest/gtest.h>

#include <vector>

#include "cache/registry.h"
#include "cache/result_cache_conformance.h"

namespace search::cache {
namespace {

// Variants that need a server are tested in tests/redis_cache, which starts one.
std::vector<ResultCacheVariant> WithoutServer() {
  std::vector<ResultCacheVariant> variants;
  for (const ResultCacheVariant& variant : RegisteredResultCaches()) {
    if (!variant.needs_server) variants.push_back(variant);
  }
  return variants;
}

INSTANTIATE_TEST_SUITE_P(Registered, ResultCacheConformance, testing::ValuesIn(WithoutServer()),
                         VariantName);

TEST(ResultCacheRegistryTest, NamesTheKnownOnesForAnUnknownOne) {
  const auto cache = MakeResultCache("paper", ResultCacheOptions());
  EXPECT_EQ(cache.status().code(), neptune::StatusCode::kInvalidArgument);
  EXPECT_EQ(neptune::ToStd(cache.status().message()),
            "unknown result cache 'paper'; known: memory, redis");
}

TEST(ResultCacheRegistryTest, MakesByName) {
  for (const ResultCacheVariant& variant : RegisteredResultCaches()) {
    const auto cache = MakeResultCache(variant.name, ResultCacheOptions());
    ASSERT_TRUE(cache.ok()) << cache.status();
    EXPECT_EQ((*cache)->name(), variant.name);
  }
}

TEST(RedisCacheTest, RefusesOptionsOutOfRange) {
  const auto code = [](const ResultCacheOptions& options) {
    return MakeResultCache("redis", options).status().code();
  };
  ResultCacheOptions options;
  for (const char* const server : {"", "localhost", ":6379", "a:0", "a:65536", "a:1x", "a:-1"}) {
    options.server = server;
    EXPECT_EQ(code(options), neptune::StatusCode::kInvalidArgument) << server;
  }
  EXPECT_EQ(code({.size_max = 1000}), neptune::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.key_prefix = ""}), neptune::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.server_timeout = {}}), neptune::StatusCode::kInvalidArgument);
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
