// A trace as caches see it: which value was asked for when, how large it is and what it costs to
// make. Held in columns, 12 bytes a request and 16 a key, so that traces of many millions fit.
//
// Threads: thread-compatible.
// Units: bytes, microseconds.
// Limits: kRequestCountMax requests, kKeyCountMax keys. Keys are compared by a 64-bit hash.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cache/eviction/eviction_policy.h"

namespace search::tools {

class CacheTrace {
 public:
  static constexpr uint64_t kRequestCountMax = 100'000'000;
  static constexpr uint64_t kKeyCountMax = 100'000'000;

  // Adds a request; false if the trace is full. The first weight of a key with a size above 0
  // stands for all its requests.
  bool Add(uint64_t time_us, std::string_view key, cache::EntryWeight weight);
  // The weight that is known of a key; size 0: none.
  cache::EntryWeight KnownWeight(std::string_view key) const;

  uint64_t request_count() const { return keys_.size(); }
  uint64_t key_count() const { return weights_.size(); }
  // Keys are numbers below key_count().
  uint32_t KeyOf(uint64_t request) const { return keys_[request]; }
  uint64_t TimeOf(uint64_t request) const { return times_us_[request]; }
  const cache::EntryWeight& WeightOf(uint32_t key) const { return weights_[key]; }
  // True if a key has a cost above 0.
  bool has_costs() const { return has_costs_; }

  // Adds `overhead` bytes to each key's size, which then counts as what an entry takes.
  uint64_t DistinctSize(uint64_t overhead) const;
  // The trace with all sizes 1 and the same costs.
  void MakeSizesOne();

  // The request at which the key of each request is asked for next; kNever if it is not.
  static constexpr uint32_t kNever = UINT32_MAX;
  std::vector<uint32_t> NextUses() const;

 private:
  absl::flat_hash_map<uint64_t, uint32_t> number_by_hash_;
  std::vector<cache::EntryWeight> weights_;
  std::vector<uint32_t> keys_;
  std::vector<uint64_t> times_us_;
  bool has_costs_ = false;
};

}  // namespace search::tools
