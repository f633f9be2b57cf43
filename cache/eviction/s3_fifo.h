// S3-FIFO eviction policy with three FIFO queues: a small queue for new entries, a main queue for
// entries that were used again, and a ghost queue of ids evicted from the small queue. An entry
// whose id is in the ghost queue goes directly to the main queue.
//
// Source: [Yang23] section 4, algorithm 1.
// Departs from source: entries have sizes, and the three queues are bounded in bytes, not in
//   entries (the ghost queue by the sizes its entries had: as much as the main queue's share).
// Threads: thread-compatible.
// Limits: those of eviction_policy.h. Cost: amortised O(1); an entry reaches the end of the main
//   queue at most kUseCountMax times between two uses.

#pragma once

#include <cstdint>
#include <vector>

#include "cache/eviction/entry_lists.h"
#include "cache/eviction/eviction_policy.h"

namespace search::cache {

class S3Fifo final : public EvictionPolicy {
 public:
  // Maximum of an entry's use counter, which has two bits.
  static constexpr uint8_t kUseCountMax = 3;
  // An entry of the small queue used more often than this is moved to the main queue.
  static constexpr uint8_t kPromotionUseCount = 1;
  // Fraction of the size for the small queue.
  static constexpr double kSmallShare = 0.1;

  explicit S3Fifo(uint64_t size_max);

  void Touch(uint64_t id) override;
  // A resident entry keeps its use count and its queue, and moves to the queue's head.
  bool Insert(uint64_t id, EntryWeight weight, std::vector<uint64_t>* evicted) override;
  void Remove(uint64_t id) override;
  void Clear() override;

  bool Contains(uint64_t id) const override;
  uint64_t size() const override { return lists_.size(kSmall) + lists_.size(kMain); }
  uint64_t entry_count() const override { return lists_.count(kSmall) + lists_.count(kMain); }
  uint64_t ghost_count() const { return lists_.count(kGhost); }

 private:
  enum Queue : uint8_t { kSmall, kMain, kGhost };
  using NodeIndex = EntryLists::NodeIndex;

  void MakeRoom(uint64_t size, std::vector<uint64_t>* evicted);
  void EvictFromSmall(std::vector<uint64_t>* evicted);
  void EvictFromMain(std::vector<uint64_t>* evicted);
  void BecomeGhost(NodeIndex index);

  const uint64_t size_max_;
  const uint64_t small_size_max_;
  EntryLists lists_;
};

}  // namespace search::cache
