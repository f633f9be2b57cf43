#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/eviction/registry.h"
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

// The variant memory with each eviction policy.
constexpr size_t kPolicyCount = 8;

template <size_t kNumber>
neptune::StatusOr<std::unique_ptr<ResultCache>> MakeWithPolicy(const ResultCacheOptions& options) {
  ResultCacheOptions with_policy = options;
  with_policy.policy = std::string(RegisteredEvictionPolicies()[kNumber].name);
  return MakeResultCache("memory", with_policy);
}

template <size_t... kNumbers>
std::vector<ResultCacheVariant> WithPolicies(std::index_sequence<kNumbers...>) {
  return {{RegisteredEvictionPolicies()[kNumbers].name, &MakeWithPolicy<kNumbers>}...};
}

INSTANTIATE_TEST_SUITE_P(MemoryWith, ResultCacheConformance,
                         testing::ValuesIn(WithPolicies(std::make_index_sequence<kPolicyCount>())),
                         VariantName);

TEST(MemoryCacheTest, IsTestedWithEachPolicy) {
  EXPECT_EQ(RegisteredEvictionPolicies().size(), kPolicyCount);
}

TEST(MemoryCacheTest, ReturnsTheCostOfAValue) {
  const auto cache = MakeResultCache("memory", ResultCacheOptions()).value();
  const CacheValue value{.value = "v", .cost = std::chrono::milliseconds(7)};
  EXPECT_EQ(*cache->Insert({"q", 1}, value, neptune::TimePoint()), true);
  const auto found = cache->Lookup({"q", 1}, neptune::TimePoint());
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->cost, std::chrono::milliseconds(7));
}

// The policy learns costs: of two equally popular sets of values, the costly ones stay.
TEST(MemoryCacheTest, KeepsCostlyValuesWithACostAwarePolicy) {
  ResultCacheOptions options{.size_max = 64u << 10, .shard_count = 1, .policy = "gdsf"};
  const auto cache = MakeResultCache("memory", options).value();
  constexpr int kCount = 200;  // twice what fits
  int costly_count = 0;
  for (int round = 0; round < 3; ++round) {
    costly_count = 0;
    for (int i = 0; i < kCount; ++i) {
      const std::string query = "q" + std::to_string(i);
      const auto found = cache->Lookup({query, 1}, neptune::TimePoint());
      costly_count += found->has_value() && i % 4 == 0 ? 1 : 0;
      if (found->has_value()) continue;
      const auto cost = std::chrono::microseconds(i % 4 == 0 ? 20'000 : 20);
      ASSERT_TRUE(cache
                      ->Insert({query, 1}, {.value = std::string(256, 'v'), .cost = cost},
                               neptune::TimePoint())
                      .ok());
    }
  }
  EXPECT_EQ(costly_count, kCount / 4);
}

TEST(MemoryCacheTest, RefusesAnUnknownPolicy) {
  const auto cache = MakeResultCache("memory", {.policy = "paper"});
  EXPECT_EQ(cache.status().code(), neptune::StatusCode::kInvalidArgument);
}

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
