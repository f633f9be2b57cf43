// Lookups with an insert after each miss, query popularity 1/rank, from one and several threads;
// also hits alone and inserts alone, with each eviction policy, and of the persistent cache over a
// local store without replication.

#include <benchmark/benchmark.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cache/eviction/registry.h"
#include "cache/memory/memory_cache.h"
#include "cache/persistent/persistent_cache.h"
#include "cache/registry.h"
#include "neptune/world/real/real_world.h"

namespace search::cache {
namespace {

constexpr size_t kQueryCount = 200000;
constexpr size_t kValueSize = 4096;

// A stream of queries drawn in advance, so that drawing is not measured.
const std::vector<std::string>& Stream() {
  static const auto& stream = *new std::vector<std::string>([] {
    std::vector<double> weights;
    for (size_t rank = 1; rank <= kQueryCount; ++rank) {
      weights.push_back(1 / static_cast<double>(rank));
    }
    std::discrete_distribution<size_t> popular(weights.begin(), weights.end());
    std::mt19937_64 random(1);
    std::vector<std::string> queries;
    for (int i = 0; i < 1 << 20; ++i) queries.push_back("query " + std::to_string(popular(random)));
    return queries;
  }());
  return stream;
}

void LookupOrInsert(benchmark::State& state, ResultCacheVariant variant) {
  static std::unique_ptr<ResultCache> cache;
  const std::vector<std::string>& stream = Stream();
  if (state.thread_index() == 0) {
    ResultCacheOptions options;
    options.size_max = 64u << 20;
    cache = variant.make(options).value();
  }
  size_t at = static_cast<size_t>(state.thread_index()) * 77777;
  const std::string value(kValueSize, 'v');
  for (auto _ : state) {
    const std::string& query = stream[at++ % stream.size()];
    const auto found = cache->Lookup({query, 1}, neptune::TimePoint());
    if (found.ok() && found->has_value()) continue;
    benchmark::DoNotOptimize(cache->Insert({query, 1}, {value, {}}, neptune::TimePoint()));
  }
  state.SetItemsProcessed(state.iterations());
  if (state.thread_index() == 0) {
    const ResultCacheStats stats = cache->Stats();
    state.counters["hit_ratio"] = static_cast<double>(stats.hit_count) /
                                  static_cast<double>(stats.hit_count + stats.miss_count);
  }
}

// Makes the cache in a folder that each call empties.
neptune::StatusOr<std::unique_ptr<ResultCache>> MakePersistent(const ResultCacheOptions& options) {
  static const std::string folder =
      (std::filesystem::temp_directory_path() / "result_cache_benchmark").string();
  static std::unique_ptr<neptune::World> world;
  world.reset();
  std::filesystem::remove_all(folder);
  world = neptune::MakeRealWorld({.storage_directory = folder});
  NEPTUNE_ASSIGN_OR_RETURN(auto store, world->storage().Open("cache"));
  return MakePersistentCache(std::move(store), options);
}

const ResultCacheVariant kPersistent = {kPersistentCacheName, &MakePersistent};
constexpr size_t kKeptCount = 5000;

void FindKept(benchmark::State& state, ResultCache* cache) {
  std::vector<std::string> queries;
  for (size_t i = 0; i < kKeptCount; ++i) queries.push_back("query " + std::to_string(i));
  const std::string value(kValueSize, 'v');
  for (const std::string& query : queries) {
    benchmark::DoNotOptimize(cache->Insert({query, 1}, {value, {}}, neptune::TimePoint()));
  }
  size_t at = 0;
  for (auto _ : state) {
    const auto found = cache->Lookup({queries[at++ % kKeptCount], 1}, neptune::TimePoint());
    if (!found.ok() || !found->has_value()) state.SkipWithError("no hit");
  }
}

void InsertNew(benchmark::State& state, ResultCache* cache) {
  const std::string value(kValueSize, 'v');
  size_t at = 0;
  for (auto _ : state) {
    const std::string query = "query " + std::to_string(at++);
    benchmark::DoNotOptimize(cache->Insert({query, 1}, {value, {}}, neptune::TimePoint()));
  }
}

// A memory cache with the eviction policy that the benchmark's argument numbers, which becomes its
// label.
std::unique_ptr<ResultCache> WithPolicy(benchmark::State& state) {
  const auto number = static_cast<size_t>(state.range(0));
  const std::string policy(RegisteredEvictionPolicies()[number].name);
  state.SetLabel(policy);
  return MakeMemoryCache({.policy = policy}).value();
}

void Hit(benchmark::State& state) { FindKept(state, WithPolicy(state).get()); }
void Insert(benchmark::State& state) { InsertNew(state, WithPolicy(state).get()); }
void PersistentHit(benchmark::State& state) { FindKept(state, kPersistent.make({}).value().get()); }
void PersistentInsert(benchmark::State& state) {
  InsertNew(state, kPersistent.make({}).value().get());
}

void EachPolicy(benchmark::internal::Benchmark* made) {
  const auto count = static_cast<int64_t>(RegisteredEvictionPolicies().size());
  made->DenseRange(0, count - 1);
}

BENCHMARK(Hit)->Apply(&EachPolicy);
BENCHMARK(Insert)->Apply(&EachPolicy);
BENCHMARK(PersistentHit);
BENCHMARK(PersistentInsert);
BENCHMARK_CAPTURE(LookupOrInsert, memory, RegisteredResultCaches()[0])
    ->ThreadRange(1, 2)
    ->UseRealTime();

}  // namespace
}  // namespace search::cache
