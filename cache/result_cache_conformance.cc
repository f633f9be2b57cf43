#include "cache/result_cache_conformance.h"

#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace search::cache {
namespace {

using neptune::TimePoint;
using std::chrono::milliseconds;

constexpr TimePoint kStart{milliseconds(1000)};

// Returns the value found, or nullopt; an error fails the test.
std::optional<std::string> Find(ResultCache& cache, const CacheKey& key, TimePoint now = kStart) {
  const auto found = cache.Lookup(key, now);
  EXPECT_TRUE(found.ok()) << found.status();
  if (!found.ok() || !found->has_value()) return std::nullopt;
  return *(*found)->value;
}

bool Store(ResultCache& cache, const CacheKey& key, std::string value,
           neptune::Duration time_to_live = {}, TimePoint now = kStart) {
  const auto stored = cache.Insert(key, {std::move(value), time_to_live}, now);
  EXPECT_TRUE(stored.ok()) << stored.status();
  return stored.ok() && *stored;
}

}  // namespace

std::string VariantName(const testing::TestParamInfo<ResultCacheVariant>& info) {
  return std::string(info.param.name);
}

void PrintTo(const ResultCacheVariant& variant, std::ostream* out) { *out << variant.name; }

std::unique_ptr<ResultCache> ResultCacheConformance::Make(const ResultCacheOptions& options) const {
  auto cache = GetParam().make(options);
  EXPECT_TRUE(cache.ok()) << cache.status();
  return cache.ok() ? std::move(*cache) : nullptr;
}

TEST_P(ResultCacheConformance, GivesBackWhatWasInserted) {
  const auto cache = Make();
  EXPECT_EQ(Find(*cache, {"apple", 1}), std::nullopt);
  EXPECT_TRUE(Store(*cache, {"apple", 1}, std::string("red\0green", 9)));
  EXPECT_TRUE(Store(*cache, {"pear", 1}, ""));
  EXPECT_EQ(Find(*cache, {"apple", 1}), std::string("red\0green", 9));
  EXPECT_EQ(Find(*cache, {"pear", 1}), "");
  EXPECT_EQ(Find(*cache, {"appl", 1}), std::nullopt);
}

TEST_P(ResultCacheConformance, ReturnsTheAgeOfAValue) {
  const auto cache = Make();
  Store(*cache, {"apple", 1}, "red");
  const auto found = cache->Lookup({"apple", 1}, kStart + milliseconds(250));
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->age, milliseconds(250));
}

TEST_P(ResultCacheConformance, MissesEveryOtherVersion) {
  const auto cache = Make();
  Store(*cache, {"apple", 7}, "old");
  EXPECT_EQ(Find(*cache, {"apple", 8}), std::nullopt);
  EXPECT_EQ(Find(*cache, {"apple", 6}), std::nullopt);
  EXPECT_EQ(Find(*cache, {"apple", 7}), "old");
  Store(*cache, {"apple", 8}, "new");
  EXPECT_EQ(Find(*cache, {"apple", 7}), std::nullopt);
  EXPECT_EQ(Find(*cache, {"apple", 8}), "new");
  Store(*cache, {"apple", 7}, "back");  // an index may be rolled back
  EXPECT_EQ(Find(*cache, {"apple", 7}), "back");
}

TEST_P(ResultCacheConformance, ExpiresByTheTimePassed) {
  const auto cache = Make();
  Store(*cache, {"apple", 1}, "red", milliseconds(100));
  Store(*cache, {"pear", 1}, "green");
  EXPECT_EQ(Find(*cache, {"apple", 1}, kStart + milliseconds(99)), "red");
  EXPECT_EQ(Find(*cache, {"apple", 1}, kStart + milliseconds(100)), std::nullopt);
  EXPECT_EQ(Find(*cache, {"pear", 1}, kStart + std::chrono::hours(24 * 365)), "green");
  EXPECT_EQ(cache->Stats().expiration_count, 1u);
  Store(*cache, {"apple", 1}, "fresh", milliseconds(100), kStart + milliseconds(100));
  EXPECT_EQ(Find(*cache, {"apple", 1}, kStart + milliseconds(150)), "fresh");
}

TEST_P(ResultCacheConformance, RefusesWhatExceedsALimitAndForgetsTheOldValue) {
  ResultCacheOptions options;
  options.value_size_max = 100;
  const auto cache = Make(options);
  EXPECT_TRUE(Store(*cache, {"apple", 1}, std::string(100, 'x')));
  EXPECT_FALSE(Store(*cache, {"apple", 1}, std::string(101, 'x')));
  EXPECT_EQ(Find(*cache, {"apple", 1}), std::nullopt);
  EXPECT_FALSE(Store(*cache, {std::string(kKeySizeMax + 1, 'k'), 1}, "v"));
  EXPECT_FALSE(Store(*cache, {"", 1}, "v"));
  EXPECT_FALSE(Store(*cache, {"apple", 1}, "v", milliseconds(-1)));
  EXPECT_EQ(cache->Stats().refused_count, 4u);
}

TEST_P(ResultCacheConformance, CountsWhatHappens) {
  const auto cache = Make();
  Find(*cache, {"apple", 1});
  Store(*cache, {"apple", 1}, "red");
  Find(*cache, {"apple", 1});
  Find(*cache, {"apple", 2});
  const ResultCacheStats stats = cache->Stats();
  EXPECT_EQ(stats.hit_count, 1u);
  EXPECT_EQ(stats.miss_count, 2u);
  EXPECT_EQ(stats.insert_count, 1u);
  EXPECT_EQ(stats.entry_count, 1u);
  EXPECT_GE(stats.size, 8u);
}

TEST_P(ResultCacheConformance, ForgetsAllWhenCleared) {
  const auto cache = Make();
  Store(*cache, {"apple", 1}, "red");
  EXPECT_TRUE(cache->Clear().ok());
  EXPECT_EQ(Find(*cache, {"apple", 1}), std::nullopt);
  EXPECT_EQ(cache->Stats().size, 0u);
  EXPECT_EQ(cache->Stats().entry_count, 0u);
}

TEST_P(ResultCacheConformance, KeepsAValueAliveWhileItIsHeld) {
  const auto cache = Make();
  Store(*cache, {"apple", 1}, "red");
  const auto held = cache->Lookup({"apple", 1}, kStart);
  ASSERT_TRUE(held.ok() && held->has_value());
  Store(*cache, {"apple", 1}, "green");
  EXPECT_TRUE(cache->Clear().ok());
  EXPECT_EQ(*(*held)->value, "red");
}

// Compares a cache that is always too small with a map: every value found is right, and the size
// bound holds.
TEST_P(ResultCacheConformance, GivesNoWrongValueAndKeepsItsBound) {
  ResultCacheOptions options;
  options.size_max = 320u << 10;
  options.shard_count = 4;
  const auto cache = Make(options);
  std::mt19937_64 random(42);
  std::map<std::string, std::pair<uint64_t, std::string>> oracle;
  int hit_count = 0;
  for (int step = 0; step < 20000; ++step) {
    const std::string query = "q" + std::to_string(random() % (1 + random() % 2000));
    const uint64_t version = random() % 2;
    if (random() % 3 == 0) {
      std::string value(random() % 3000, static_cast<char>('a' + step % 26));
      if (Store(*cache, {query, version}, value)) {
        oracle[query] = {version, std::move(value)};
      } else {
        oracle.erase(query);
      }
    } else if (const auto found = Find(*cache, {query, version})) {
      ++hit_count;
      ASSERT_TRUE(oracle.contains(query));
      EXPECT_EQ(oracle[query], std::make_pair(version, *found));
    }
    ASSERT_LE(cache->Stats().size, options.size_max);
  }
  EXPECT_GT(hit_count, 1000);
  EXPECT_GT(cache->Stats().eviction_count, 1000u);
}

TEST_P(ResultCacheConformance, MayBeUsedByManyThreads) {
  ResultCacheOptions options;
  options.size_max = 64u << 10;
  options.shard_count = 2;
  const auto cache = Make(options);
  std::vector<std::thread> threads;
  std::atomic<int> wrong_count = 0;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&cache, &wrong_count, seed] {
      std::mt19937_64 random(seed);
      for (int step = 0; step < 5000; ++step) {
        const std::string query = "q" + std::to_string(random() % 100);
        if (random() % 4 == 0) {
          Store(*cache, {query, 1}, query + std::string(random() % 900, '!'));
        } else if (const auto found = Find(*cache, {query, 1})) {
          wrong_count += found->substr(0, found->find('!')) != query;
        }
        if (random() % 1000 == 0) {
          EXPECT_TRUE(cache->Clear().ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong_count, 0);
}

}  // namespace search::cache
