#include "cache/memory/memory_cache.h"

#include <xxhash.h>

#include <utility>
#include <vector>

#include "cache/eviction/registry.h"
#include "cache/memory/memory_shard.h"

namespace search::cache {
namespace {

constexpr uint32_t kShardCountMax = 1024;
constexpr size_t kShardSizeMin = 1024;

class MemoryCache : public ResultCache {
 public:
  MemoryCache(const ResultCacheOptions& options, const EvictionPolicyVariant& policy)
      : options_(options) {
    const uint64_t size_max = options.size_max / options.shard_count;
    for (uint32_t i = 0; i < options.shard_count; ++i) {
      shards_.push_back(std::make_unique<MemoryShard>(size_max, policy.make(size_max)));
    }
  }

  neptune::StatusOr<std::optional<CachedResult>> Lookup(const CacheKey& key,
                                                        neptune::TimePoint now) override {
    const uint64_t hash = Hash(key.query);
    return ShardOf(hash).Lookup(hash, key, now);
  }

  neptune::StatusOr<bool> Insert(const CacheKey& key, CacheValue value,
                                 neptune::TimePoint now) override {
    const uint64_t hash = Hash(key.query);
    MemoryShard& shard = ShardOf(hash);
    if (key.query.empty() || key.query.size() > kKeySizeMax ||
        value.value.size() > options_.value_size_max ||
        value.time_to_live < neptune::Duration::zero()) {
      shard.Refuse(hash);
      return false;
    }
    return shard.Insert(hash, key, std::move(value), now);
  }

  neptune::Status Clear() override {
    for (const auto& shard : shards_) shard->Clear();
    return neptune::OkStatus();
  }

  ResultCacheStats Stats() const override {
    ResultCacheStats stats;
    for (const auto& shard : shards_) shard->AddStats(&stats);
    return stats;
  }

  std::string_view name() const override { return kMemoryCacheName; }

 private:
  uint64_t Hash(std::string_view query) const {
    return XXH3_64bits_withSeed(query.data(), query.size(), options_.hash_seed);
  }
  MemoryShard& ShardOf(uint64_t hash) { return *shards_[(hash >> 32) % shards_.size()]; }

  const ResultCacheOptions options_;
  std::vector<std::unique_ptr<MemoryShard>> shards_;
};

}  // namespace

neptune::StatusOr<std::unique_ptr<ResultCache>> MakeMemoryCache(const ResultCacheOptions& options) {
  if (options.shard_count < 1 || options.shard_count > kShardCountMax) {
    return neptune::InvalidArgument("shard_count is ", options.shard_count, "; must be 1 to ",
                                    kShardCountMax);
  }
  if (options.size_max / options.shard_count < kShardSizeMin) {
    return neptune::InvalidArgument("size_max is ", options.size_max, ", less than ", kShardSizeMin,
                                    " for each of ", options.shard_count, " shards");
  }
  NEPTUNE_ASSIGN_OR_RETURN(const EvictionPolicyVariant policy, FindEvictionPolicy(options.policy));
  return std::make_unique<MemoryCache>(options, policy);
}

}  // namespace search::cache
