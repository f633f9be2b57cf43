#include "cache/memory/memory_shard.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace search::cache {
namespace {

// 0 for negative durations.
uint64_t ToWholeMicros(neptune::Duration duration) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  return static_cast<uint64_t>(std::max<int64_t>(0, micros));
}

}  // namespace

MemoryShard::Entry MemoryShard::Take(uint64_t hash) {
  const auto found = entries_.find(hash);
  if (found == entries_.end()) return {};
  Entry taken = std::move(found->second);
  entries_.erase(found);
  return taken;
}

std::optional<CachedResult> MemoryShard::Lookup(uint64_t hash, const CacheKey& key,
                                                neptune::TimePoint now) {
  Entry expired;
  neptune::LeafLock lock(&mutex_);
  const auto found = entries_.find(hash);
  if (found == entries_.end() || found->second.query != key.query ||
      found->second.index_version != key.index_version) {
    ++stats_.miss_count;
    return std::nullopt;
  }
  const Entry& entry = found->second;
  if (now >= entry.expiry) {
    policy_->Remove(hash);
    expired = Take(hash);
    ++stats_.expiration_count;
    ++stats_.miss_count;
    return std::nullopt;
  }
  policy_->Touch(hash);
  ++stats_.hit_count;
  return CachedResult{entry.value, std::max(now - entry.insert_time, neptune::Duration::zero()),
                      entry.cost};
}

bool MemoryShard::Insert(uint64_t hash, const CacheKey& key, CacheValue value,
                         neptune::TimePoint now) {
  const uint64_t size = key.query.size() + value.value.size() + kMemoryEntryOverhead;
  if (size > size_max_) {
    Refuse(hash);
    return false;
  }
  Entry entry{std::string(key.query),
              key.index_version,
              std::make_shared<const std::string>(std::move(value.value)),
              now,
              value.time_to_live == neptune::Duration::zero()
                  ? neptune::kNever
                  : neptune::AddSaturated(now, value.time_to_live),
              value.cost};
  const EntryWeight weight{.size = size, .cost_us = ToWholeMicros(value.cost)};
  std::vector<uint64_t> evicted;
  std::vector<Entry> dropped;
  neptune::LeafLock lock(&mutex_);
  const bool is_admitted = policy_->Insert(hash, weight, &evicted);
  for (const uint64_t other : evicted) dropped.push_back(Take(other));
  stats_.eviction_count += evicted.size();
  if (!is_admitted) {
    dropped.push_back(Take(hash));
    ++stats_.refused_count;
    return false;
  }
  std::swap(entries_[hash], entry);
  ++stats_.insert_count;
  return true;
}

void MemoryShard::Refuse(uint64_t hash) {
  Entry dropped;
  neptune::LeafLock lock(&mutex_);
  policy_->Remove(hash);
  dropped = Take(hash);
  ++stats_.refused_count;
}

void MemoryShard::Clear() {
  Entries dropped;
  neptune::LeafLock lock(&mutex_);
  policy_->Clear();
  dropped.swap(entries_);
}

void MemoryShard::AddStats(ResultCacheStats* stats) const {
  neptune::LeafLock lock(&mutex_);
  stats->hit_count += stats_.hit_count;
  stats->miss_count += stats_.miss_count;
  stats->insert_count += stats_.insert_count;
  stats->refused_count += stats_.refused_count;
  stats->eviction_count += stats_.eviction_count;
  stats->expiration_count += stats_.expiration_count;
  stats->size += policy_->size();
  stats->entry_count += policy_->entry_count();
}

}  // namespace search::cache
