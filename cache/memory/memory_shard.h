// One independently locked part of the in-memory query cache.
//
// Threads: thread-safe.
// Units: bytes.
// Limits: size_max bytes; a larger entry is refused.
// Entries are identified by a hash of the query; two queries with the same hash replace each other.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "cache/eviction/eviction_policy.h"
#include "cache/result_cache.h"
#include "neptune/base/leaf_mutex.h"

namespace search::cache {

// Bytes accounted per entry in addition to key and value: its slots in the tables of values and of
// the policy, and what the policy remembers of one entry that is gone.
inline constexpr size_t kMemoryEntryOverhead = 256;

class MemoryShard {
 public:
  // REQUIRES: the policy is empty and was made for size_max.
  MemoryShard(uint64_t size_max, std::unique_ptr<EvictionPolicy> policy)
      : size_max_(size_max), policy_(std::move(policy)) {}

  std::optional<CachedResult> Lookup(uint64_t hash, const CacheKey& key, neptune::TimePoint now);
  bool Insert(uint64_t hash, const CacheKey& key, CacheValue value, neptune::TimePoint now);
  // Removes the query's entry and counts a refusal.
  void Refuse(uint64_t hash);
  void Clear();
  // Adds this shard's statistics to *stats.
  void AddStats(ResultCacheStats* stats) const;

 private:
  struct Entry {
    std::string query;
    uint64_t index_version = 0;
    std::shared_ptr<const std::string> value;
    neptune::TimePoint insert_time;
    neptune::TimePoint expiry;
    neptune::Duration cost{};
  };
  using Entries = absl::flat_hash_map<uint64_t, Entry>;

  // Removes and returns an entry, so that the caller destroys it outside the lock.
  Entry Take(uint64_t hash) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint64_t size_max_;
  mutable neptune::LeafMutex mutex_;
  const std::unique_ptr<EvictionPolicy> policy_ ABSL_PT_GUARDED_BY(mutex_);
  Entries entries_ ABSL_GUARDED_BY(mutex_);
  ResultCacheStats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace search::cache
