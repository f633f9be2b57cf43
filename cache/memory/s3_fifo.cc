#include "cache/memory/s3_fifo.h"

#include <algorithm>

namespace search::cache {

S3Fifo::S3Fifo(uint64_t size_max)
    : size_max_(size_max),
      small_size_max_(static_cast<uint64_t>(static_cast<double>(size_max) * kSmallShare)) {}

void S3Fifo::Touch(uint64_t id) {
  const auto found = index_by_id_.find(id);
  if (found == index_by_id_.end()) return;
  Node& node = nodes_[found->second];
  if (node.queue != kGhost && node.use_count < kUseCountMax) ++node.use_count;
}

void S3Fifo::Insert(uint64_t id, uint64_t size, std::vector<uint64_t>* evicted) {
  const auto found = index_by_id_.find(id);
  if (found == index_by_id_.end()) {
    MakeRoom(size, evicted);
    PushNewest(NewNode(id, size), kSmall);
    return;
  }
  const NodeIndex index = found->second;
  const QueueIndex queue = nodes_[index].queue == kSmall ? kSmall : kMain;
  Unlink(index);  // protects it from the eviction below
  MakeRoom(size, evicted);
  nodes_[index].size = size;
  PushNewest(index, queue);
}

void S3Fifo::Remove(uint64_t id) {
  const auto found = index_by_id_.find(id);
  if (found == index_by_id_.end() || nodes_[found->second].queue == kGhost) return;
  const NodeIndex index = found->second;
  Unlink(index);
  FreeNode(index);
}

void S3Fifo::Clear() {
  queues_ = {};
  nodes_.clear();
  free_ = kNone;
  index_by_id_.clear();
}

bool S3Fifo::Contains(uint64_t id) const {
  const auto found = index_by_id_.find(id);
  return found != index_by_id_.end() && nodes_[found->second].queue != kGhost;
}

S3Fifo::NodeIndex S3Fifo::NewNode(uint64_t id, uint64_t size) {
  NodeIndex index = free_;
  if (index == kNone) {
    index = static_cast<NodeIndex>(nodes_.size());
    nodes_.emplace_back();
  } else {
    free_ = nodes_[index].older;
  }
  nodes_[index] = Node{.id = id, .size = size};
  index_by_id_[id] = index;
  return index;
}

void S3Fifo::FreeNode(NodeIndex index) {
  index_by_id_.erase(nodes_[index].id);
  nodes_[index].older = free_;
  free_ = index;
}

void S3Fifo::PushNewest(NodeIndex index, QueueIndex queue_index) {
  Queue& queue = queues_[queue_index];
  Node& node = nodes_[index];
  node.queue = queue_index;
  node.newer = kNone;
  node.older = queue.newest;
  (queue.newest == kNone ? queue.oldest : nodes_[queue.newest].newer) = index;
  queue.newest = index;
  queue.size += node.size;
  ++queue.count;
}

void S3Fifo::Unlink(NodeIndex index) {
  const Node& node = nodes_[index];
  Queue& queue = queues_[node.queue];
  (node.newer == kNone ? queue.newest : nodes_[node.newer].older) = node.older;
  (node.older == kNone ? queue.oldest : nodes_[node.older].newer) = node.newer;
  queue.size -= node.size;
  --queue.count;
}

void S3Fifo::MakeRoom(uint64_t size, std::vector<uint64_t>* evicted) {
  while (entry_count() > 0 && this->size() + size > size_max_) {
    if (queues_[kMain].count == 0 ||
        (queues_[kSmall].count > 0 && queues_[kSmall].size >= small_size_max_)) {
      EvictFromSmall(evicted);
    } else {
      EvictFromMain(evicted);
    }
  }
}

// Stops after evicting one entry, or after moving the whole queue to the main queue.
void S3Fifo::EvictFromSmall(std::vector<uint64_t>* evicted) {
  while (queues_[kSmall].count > 0) {
    const NodeIndex index = queues_[kSmall].oldest;
    Unlink(index);
    const bool is_promoted = nodes_[index].use_count > kPromotionUseCount;
    nodes_[index].use_count = 0;
    if (is_promoted) {
      PushNewest(index, kMain);
      continue;
    }
    evicted->push_back(nodes_[index].id);
    BecomeGhost(index);
    return;
  }
}

// An entry with uses is reinserted at the head and loses one use.
void S3Fifo::EvictFromMain(std::vector<uint64_t>* evicted) {
  while (queues_[kMain].count > 0) {
    const NodeIndex index = queues_[kMain].oldest;
    Unlink(index);
    if (nodes_[index].use_count > 0) {
      --nodes_[index].use_count;
      PushNewest(index, kMain);
      continue;
    }
    evicted->push_back(nodes_[index].id);
    FreeNode(index);
    return;
  }
}

void S3Fifo::BecomeGhost(NodeIndex index) {
  PushNewest(index, kGhost);
  while (queues_[kGhost].size > size_max_ - small_size_max_) {
    const NodeIndex oldest = queues_[kGhost].oldest;
    Unlink(oldest);
    FreeNode(oldest);
  }
}

}  // namespace search::cache
