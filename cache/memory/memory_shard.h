// One independently locked part of the in-memory query cache.
//
// Source: s3_fifo.h.
// Threads: thread-safe.
// Units: bytes.
// Limits: size_max bytes; a larger entry is refused.
// Entries are identified by a hash of the query; two queries with the same hash replace each other.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "cache/memory/s3_fifo.h"
#include "cache/result_cache.h"
#include "neptune/base/leaf_mutex.h"

namespace search::cache {

// Bytes accounted per entry in addition to key and value: its table slots and those of its ghost.
inline constexpr size_t kMemoryEntryOverhead = 256;

class MemoryShard {
 public:
  explicit MemoryShard(uint64_t size_max) : size_max_(size_max), policy_(size_max) {}

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
  };
  using Entries = absl::flat_hash_map<uint64_t, Entry>;

  // Removes and returns an entry, so that the caller destroys it outside the lock.
  Entry Take(uint64_t hash) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint64_t size_max_;
  mutable neptune::LeafMutex mutex_;
  S3Fifo policy_ ABSL_GUARDED_BY(mutex_);
  Entries entries_ ABSL_GUARDED_BY(mutex_);
  ResultCacheStats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace search::cache
