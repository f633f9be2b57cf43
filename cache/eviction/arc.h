// ARC eviction policy: entries used once and entries used again are two LRU lists, and the share of
// each is learnt from hits in two lists of ids that were evicted from them.
//
// Source: [Megiddo03] figure 4.
// Departs from source: entries have sizes. Lists, the target and its steps count bytes: a ghost of
//   the recent list moves the target by the entry's size, times the ratio of the ghost lists if
//   that is above 1. With sizes of 1 it is the source's algorithm, with ratios rounded down.
// Threads: thread-compatible.
// Limits: those of eviction_policy.h; ghosts have had at most size_max. Cost: O(1) and one eviction
//   for each insert, on average.

#pragma once

#include <cstdint>
#include <vector>

#include "cache/eviction/entry_lists.h"
#include "cache/eviction/eviction_policy.h"

namespace search::cache {

class Arc final : public EvictionPolicy {
 public:
  explicit Arc(uint64_t size_max) : size_max_(size_max) {}

  void Touch(uint64_t id) override;
  // Replacing a resident entry counts as a use.
  bool Insert(uint64_t id, EntryWeight weight, std::vector<uint64_t>* evicted) override;
  void Remove(uint64_t id) override;
  void Clear() override;

  bool Contains(uint64_t id) const override;
  uint64_t size() const override { return lists_.size(kRecent) + lists_.size(kFrequent); }
  uint64_t entry_count() const override { return lists_.count(kRecent) + lists_.count(kFrequent); }
  uint64_t ghost_count() const { return lists_.count(kRecentGhost) + lists_.count(kFrequentGhost); }
  // Bytes that the recent list should have; for tests.
  uint64_t target() const { return target_; }

 private:
  enum List : uint8_t { kRecent, kFrequent, kRecentGhost, kFrequentGhost };
  using NodeIndex = EntryLists::NodeIndex;
  using Evicted = std::vector<uint64_t>;

  bool IsResident(NodeIndex index) const;
  void InsertNew(uint64_t id, EntryWeight weight, Evicted* evicted);
  void LearnFromGhost(List list, uint64_t size);
  void MakeRoom(uint64_t size, bool was_frequent_ghost, Evicted* evicted);
  void TrimGhosts();

  const uint64_t size_max_;
  uint64_t target_ = 0;
  EntryLists lists_;
};

}  // namespace search::cache
