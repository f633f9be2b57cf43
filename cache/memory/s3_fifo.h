// S3-FIFO eviction policy with three FIFO queues: a small queue for new entries, a main queue for
// entries that were used again, and a ghost queue of names evicted from the small queue. An entry
// whose name is in the ghost queue goes directly to the main queue.
//
// Source: Yang, Zhang, Qiu, Yue, Vigfusson, "FIFO queues are all you need for cache eviction",
//   SOSP 2023, section 4, algorithm 1.
// Departs from source: entries have sizes, and the three queues are bounded in bytes, not in
// entries
//   (the ghost queue by the sizes its entries had: as much as the main queue's share).
// No I/O, no clock, no locks; MemoryCache keeps the values.
// Threads: thread-compatible.
// Units: sizes in whatever unit the caller counts, bytes here.
// Limits: size() <= size_max after every call. Cost: amortised O(1); an entry reaches the end of
//   the main queue at most kUseCountMax times between two uses.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace search::cache {

class S3Fifo {
 public:
  // Maximum of an entry's use counter, which has two bits.
  static constexpr uint8_t kUseCountMax = 3;
  // An entry of the small queue used more often than this is moved to the main queue.
  static constexpr uint8_t kPromotionUseCount = 1;
  // Fraction of the size for the small queue.
  static constexpr double kSmallShare = 0.1;

  explicit S3Fifo(uint64_t size_max);

  // Counts a use of a resident entry; does nothing for any other.
  void Touch(uint64_t id);

  // Inserts the entry and appends the ids evicted to make room to *evicted. A resident entry keeps
  // its use count and its queue, and moves to the queue's head with its new size. REQUIRES: size <=
  // size_max.
  void Insert(uint64_t id, uint64_t size, std::vector<uint64_t>* evicted);

  // Removes a resident entry; does nothing for any other.
  void Remove(uint64_t id);

  // Removes all entries, including ghosts.
  void Clear();

  bool Contains(uint64_t id) const;
  uint64_t size() const { return queues_[kSmall].size + queues_[kMain].size; }
  uint64_t entry_count() const { return queues_[kSmall].count + queues_[kMain].count; }
  uint64_t ghost_count() const { return queues_[kGhost].count; }

 private:
  enum QueueIndex : uint8_t { kSmall, kMain, kGhost };
  using NodeIndex = uint32_t;
  static constexpr NodeIndex kNone = UINT32_MAX;

  struct Node {
    uint64_t id = 0;
    uint64_t size = 0;
    NodeIndex newer = kNone;
    NodeIndex older = kNone;  // also links free nodes
    QueueIndex queue = kSmall;
    uint8_t use_count = 0;
  };
  struct Queue {
    NodeIndex newest = kNone;
    NodeIndex oldest = kNone;
    uint64_t size = 0;
    uint64_t count = 0;
  };

  NodeIndex NewNode(uint64_t id, uint64_t size);
  void FreeNode(NodeIndex index);
  void PushNewest(NodeIndex index, QueueIndex queue);
  void Unlink(NodeIndex index);
  void MakeRoom(uint64_t size, std::vector<uint64_t>* evicted);
  void EvictFromSmall(std::vector<uint64_t>* evicted);
  void EvictFromMain(std::vector<uint64_t>* evicted);
  void BecomeGhost(NodeIndex index);

  const uint64_t size_max_;
  const uint64_t small_size_max_;
  std::array<Queue, 3> queues_;
  std::vector<Node> nodes_;
  NodeIndex free_ = kNone;
  absl::flat_hash_map<uint64_t, NodeIndex> index_by_id_;
};

}  // namespace search::cache
