// LRU eviction policy: the least recently used entry goes first.
//
// The baseline of all others. A scan of entries asked for once evicts everything.
// Threads: thread-compatible.
// Limits: those of eviction_policy.h. Cost: O(1) and one eviction for each insert, on average.

#pragma once

#include <cstdint>
#include <vector>

#include "cache/eviction/entry_lists.h"
#include "cache/eviction/eviction_policy.h"

namespace search::cache {

class Lru final : public EvictionPolicy {
 public:
  explicit Lru(uint64_t size_max) : size_max_(size_max) {}

  void Touch(uint64_t id) override;
  // Replacing a resident entry counts as a use.
  bool Insert(uint64_t id, EntryWeight weight, std::vector<uint64_t>* evicted) override;
  void Remove(uint64_t id) override;
  void Clear() override { lists_.Clear(); }

  bool Contains(uint64_t id) const override { return lists_.Find(id) != EntryLists::kNone; }
  uint64_t size() const override { return lists_.size(kAll); }
  uint64_t entry_count() const override { return lists_.count(kAll); }

 private:
  enum List : uint8_t { kAll };

  const uint64_t size_max_;
  EntryLists lists_;
};

}  // namespace search::cache
