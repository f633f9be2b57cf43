// Greedy-dual eviction: each entry has a priority, the least one goes first, and priorities of
// later uses begin where the last eviction ended, so that entries that were popular once age.
//
//   priority = inflation at its last use + uses * value of a use
//   inflation = largest priority evicted so far
//
// The mechanism of the policies LFU with ageing (lfu.h) and GDSF (gdsf.h), which differ in the
// value of a use. Of two entries with equal priority the one used less recently goes.
//
// Source: [Cherkasova98].
// Threads: thread-compatible.
// Limits: those of eviction_policy.h. Cost: O(log n) for each use, insert and eviction.

#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cache/eviction/eviction_policy.h"

namespace search::cache {

class GreedyDual final : public EvictionPolicy {
 public:
  // What one use of an entry is worth; positive and finite.
  using ValueOfUse = double (*)(EntryWeight weight);

  GreedyDual(uint64_t size_max, ValueOfUse value_of_use)
      : size_max_(size_max), value_of_use_(value_of_use) {}

  void Touch(uint64_t id) override;
  // Replacing a resident entry counts as a use.
  bool Insert(uint64_t id, EntryWeight weight, std::vector<uint64_t>* evicted) override;
  void Remove(uint64_t id) override;
  void Clear() override;

  bool Contains(uint64_t id) const override { return index_by_id_.contains(id); }
  uint64_t size() const override { return size_; }
  uint64_t entry_count() const override { return heap_.size(); }

 private:
  using NodeIndex = uint32_t;

  struct Node {
    uint64_t id = 0;
    EntryWeight weight;
    uint64_t use_count = 0;
    double priority = 0;
    uint64_t last_use = 0;
    size_t place = 0;  // in heap_
  };

  bool GoesBefore(NodeIndex a, NodeIndex b) const;
  void Use(NodeIndex index);
  void SiftUp(size_t place);
  void SiftDown(size_t place);
  void Put(size_t place, NodeIndex index);
  void Erase(NodeIndex index);

  const uint64_t size_max_;
  const ValueOfUse value_of_use_;
  uint64_t size_ = 0;
  uint64_t last_use_ = 0;
  double inflation_ = 0;
  std::vector<Node> nodes_;
  std::vector<NodeIndex> free_;
  std::vector<NodeIndex> heap_;  // binary; the first goes first
  absl::flat_hash_map<uint64_t, NodeIndex> index_by_id_;
};

}  // namespace search::cache
