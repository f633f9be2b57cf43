// Simulations against small obvious ones: hits of LRU by stack distances, the best possible by
// trying all ways.

#include "tools/cache_sim/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tools/cache_sim/cache_sim.h"
#include "tools/cache_sim/optimum.h"

namespace search::tools {
namespace {

struct Shape {
  uint64_t seed = 0;
  int request_count = 0;
  uint64_t key_count = 0;
  uint64_t size_max = 1;
};

CacheTrace RandomTrace(const Shape& shape) {
  std::mt19937_64 random(shape.seed);
  CacheTrace trace;
  for (int i = 0; i < shape.request_count; ++i) {
    const uint64_t key = random() % (1 + random() % shape.key_count);
    trace.Add(static_cast<uint64_t>(i) * 1'000'000, std::to_string(key),
              {.size = 1 + key * 7919 % shape.size_max, .cost_us = 1 + key * 31 % 100});
  }
  return trace;
}

cache::EvictionPolicyVariant Policy(std::string_view name) {
  return cache::FindEvictionPolicy(name).value();
}

// A request hits if fewer than `size_max` other keys were asked for since the last one for its key.
uint64_t HitsByStackDistance(const CacheTrace& trace, uint64_t size_max) {
  std::vector<uint32_t> stack;  // most recent first
  uint64_t hit_count = 0;
  for (uint64_t i = 0; i < trace.request_count(); ++i) {
    const auto found = std::find(stack.begin(), stack.end(), trace.KeyOf(i));
    if (found != stack.end()) {
      hit_count += static_cast<uint64_t>(found - stack.begin()) < size_max ? 1 : 0;
      stack.erase(found);
    }
    stack.insert(stack.begin(), trace.KeyOf(i));
  }
  return hit_count;
}

TEST(SimulationTest, CountsTheHitsOfLru) {
  const CacheTrace trace = RandomTrace({.seed = 1, .request_count = 3000, .key_count = 100});
  for (const uint64_t size_max : {1, 5, 20, 60}) {
    const CacheOutcome outcome = Simulate(trace, {.size_max = size_max}, Policy("lru"));
    EXPECT_EQ(outcome.hit_count, HitsByStackDistance(trace, size_max)) << size_max;
    EXPECT_EQ(outcome.request_count, 3000u);
  }
}

TEST(SimulationTest, CountsBytesAndTime) {
  CacheTrace trace;
  for (const char* const key : {"a", "b", "a", "a"}) {
    trace.Add(0, key, {.size = *key == 'a' ? 10u : 20u, .cost_us = *key == 'a' ? 7u : 5u});
  }
  const CacheOutcome outcome = Simulate(trace, {.size_max = 100}, Policy("lru"));
  EXPECT_EQ(outcome.hit_count, 2u);
  EXPECT_DOUBLE_EQ(outcome.hit_ratio(), 0.5);
  EXPECT_DOUBLE_EQ(outcome.byte_hit_ratio(), 20.0 / 50);
  EXPECT_DOUBLE_EQ(outcome.time_saved(), 14.0 / 26);
}

TEST(SimulationTest, ExpiresByTheTimeOfTheInsert) {
  CacheTrace trace;
  for (const uint64_t time_us : {0, 9, 10, 15, 19, 20}) trace.Add(time_us, "a", {.size = 1});
  const CacheOutcome outcome =
      Simulate(trace, {.size_max = 10, .time_to_live_us = 10}, Policy("lru"));
  EXPECT_EQ(outcome.hit_count, 3u);  // at 9, 15 and 19
  EXPECT_EQ(outcome.expiration_count, 2u);
}

TEST(SimulationTest, CountsTheOverheadOfEntriesAsTheirSize) {
  CacheTrace trace;
  for (const char* const key : {"a", "b", "a"}) trace.Add(0, key, {.size = 10});
  EXPECT_EQ(Simulate(trace, {.size_max = 30, .entry_overhead = 5}, Policy("lru")).hit_count, 1u);
  EXPECT_EQ(Simulate(trace, {.size_max = 30, .entry_overhead = 6}, Policy("lru")).hit_count, 0u);
  EXPECT_EQ(Simulate(trace, {.size_max = 30, .entry_overhead = 21}, Policy("lru")).refused_count,
            3u);
}

TEST(SimulationTest, LeavesTheWarmUpOut) {
  CacheTrace trace;
  for (const char* const key : {"a", "b", "a", "b"}) trace.Add(0, key, {.size = 1});
  const SimulatedCache cache{.size_max = 2, .warmup_count = 2};
  EXPECT_DOUBLE_EQ(Simulate(trace, cache, Policy("lru")).hit_ratio(), 1);
  EXPECT_DOUBLE_EQ(SimulateBelady(trace, cache).hit_ratio(), 1);
  EXPECT_DOUBLE_EQ(BoundOf(trace, cache).hit_ratio(), 1);
}

using Value = std::function<uint64_t(const cache::EntryWeight&)>;

// The largest value of hits that any cache could have: after each request, every subset of what it
// held and of the request's key that fits.
uint64_t BestOf(const CacheTrace& trace, uint64_t size_max, const Value& value) {
  std::map<std::set<uint32_t>, uint64_t> best_with = {{{}, 0}};
  for (uint64_t i = 0; i < trace.request_count(); ++i) {
    const uint32_t key = trace.KeyOf(i);
    std::map<std::set<uint32_t>, uint64_t> next;
    for (const auto& [held, sum] : best_with) {
      const uint64_t total = sum + (held.contains(key) ? value(trace.WeightOf(key)) : 0);
      std::vector<uint32_t> keys(held.begin(), held.end());
      if (!held.contains(key)) keys.push_back(key);
      for (uint32_t chosen = 0; chosen < 1u << keys.size(); ++chosen) {
        std::set<uint32_t> kept;
        uint64_t size = 0;
        for (size_t j = 0; j < keys.size(); ++j) {
          if ((chosen >> j & 1) == 0) continue;
          kept.insert(keys[j]);
          size += trace.WeightOf(keys[j]).size;
        }
        if (size <= size_max) next[kept] = std::max(next[kept], total);
      }
    }
    best_with = std::move(next);
  }
  uint64_t best = 0;
  for (const auto& [held, sum] : best_with) best = std::max(best, sum);
  return best;
}

TEST(OptimumTest, BeladyHasTheMostHitsIfAllSizesAreEqual) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const CacheTrace trace = RandomTrace({.seed = seed, .request_count = 30, .key_count = 6});
    for (const uint64_t size_max : {1, 2, 3, 4}) {
      EXPECT_EQ(SimulateBelady(trace, {.size_max = size_max}).hit_count,
                BestOf(trace, size_max, [](const auto&) { return uint64_t{1}; }))
          << "seed " << seed << ", size " << size_max;
    }
  }
}

TEST(OptimumTest, NoCacheIsAboveTheBound) {
  uint64_t best_sum = 0;
  uint64_t bound_sum = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const CacheTrace trace =
        RandomTrace({.seed = seed, .request_count = 30, .key_count = 6, .size_max = 6});
    const CacheOutcome bound = BoundOf(trace, {.size_max = 9});
    const uint64_t best = BestOf(trace, 9, [](const auto&) { return uint64_t{1}; });
    best_sum += best;
    bound_sum += bound.hit_count;
    EXPECT_GE(bound.hit_count, best) << "seed " << seed;
    EXPECT_GE(bound.hit_size, BestOf(trace, 9, [](const auto& weight) { return weight.size; }));
    EXPECT_GE(bound.hit_cost_us,
              BestOf(trace, 9, [](const auto& weight) { return weight.cost_us; }));
    EXPECT_LE(SimulateBelady(trace, {.size_max = 9}).hit_count, best) << "seed " << seed;
  }
  EXPECT_LT(bound_sum, best_sum * 3 / 2) << "the bound says too little";
}

TEST(OptimumTest, PoliciesAreBelowTheBoundAndTheUnlimitedCache) {
  const CacheTrace trace =
      RandomTrace({.seed = 4, .request_count = 20000, .key_count = 2000, .size_max = 50});
  const SimulatedCache cache{.size_max = 3000};
  const CacheOutcome bound = BoundOf(trace, cache);
  const CacheOutcome unlimited = SimulateUnlimited(trace, cache);
  EXPECT_LE(bound.hit_count, unlimited.hit_count);
  for (const auto& policy : cache::RegisteredEvictionPolicies()) {
    const CacheOutcome outcome = Simulate(trace, cache, policy);
    EXPECT_LT(outcome.hit_count, bound.hit_count) << policy.name;
    EXPECT_LT(outcome.hit_size, bound.hit_size) << policy.name;
    EXPECT_LT(outcome.hit_cost_us, bound.hit_cost_us) << policy.name;
    EXPECT_GT(outcome.hit_count, bound.hit_count / 6) << policy.name;
  }
}

TEST(OptimumTest, AnEntryThatDoesNotFitEvictsNothing) {
  CacheTrace trace;
  for (const char* const key : {"a", "b", "a"}) {
    trace.Add(0, key, {.size = *key == 'a' ? 1u : 100u});
  }
  EXPECT_EQ(SimulateBelady(trace, {.size_max = 10}).hit_count, 1u);
}

TEST(CacheSizeTest, ReadsBytesUnitsAndShares) {
  EXPECT_EQ(ParseCacheSize("100000")->bytes, 100000u);
  EXPECT_EQ(ParseCacheSize("64MiB")->bytes, 64u << 20);
  EXPECT_EQ(ParseCacheSize("1.5KiB")->bytes, 1536u);
  EXPECT_DOUBLE_EQ(ParseCacheSize("0.5%")->share, 0.005);
  for (const char* const bad : {"", "0", "-1", "1MB", "101%", "0%", "x", "1 %", "nan", "1e60"}) {
    EXPECT_FALSE(ParseCacheSize(bad).ok()) << bad;
  }
}

TEST(CacheSizeTest, SharesAreOfTheSpaceOfAllValues) {
  CacheTrace trace;
  for (const char* const key : {"a", "b", "a"}) trace.Add(0, key, {.size = 40});
  const CachePlan plan{.policies = {Policy("lru")},
                       .sizes = {ParseCacheSize("50%").value()},
                       .cache = {.entry_overhead = 10}};
  const auto comparison = ComparePolicies(trace, plan, [](std::string_view) {});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_EQ(comparison->distinct_size, 100u);
  EXPECT_EQ(comparison->sizes, std::vector<uint64_t>{50});
  ASSERT_EQ(comparison->rows.size(), 4u);
  EXPECT_EQ(comparison->rows[0].outcomes[0].hit_count, 0u);  // b takes the room of a
  EXPECT_EQ(comparison->rows[1].outcomes[0].hit_count, 1u);  // Belady's keeps a
}

}  // namespace
}  // namespace search::tools
