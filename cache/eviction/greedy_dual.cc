#include "cache/eviction/greedy_dual.h"

#include <utility>

namespace search::cache {

void GreedyDual::Touch(uint64_t id) {
  const auto found = index_by_id_.find(id);
  if (found != index_by_id_.end()) Use(found->second);
}

bool GreedyDual::Insert(uint64_t id, EntryWeight weight, std::vector<uint64_t>* evicted) {
  uint64_t use_count = 0;
  if (const auto found = index_by_id_.find(id); found != index_by_id_.end()) {
    use_count = nodes_[found->second].use_count;
    Erase(found->second);  // protects it from the eviction below
  }
  while (!heap_.empty() && size_ + weight.size > size_max_) {
    const NodeIndex least = heap_.front();
    inflation_ = nodes_[least].priority;
    evicted->push_back(nodes_[least].id);
    Erase(least);
  }
  NodeIndex index = static_cast<NodeIndex>(nodes_.size());
  if (free_.empty()) {
    nodes_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  nodes_[index] = Node{.id = id, .weight = weight, .use_count = use_count, .place = heap_.size()};
  heap_.push_back(index);
  index_by_id_[id] = index;
  size_ += weight.size;
  Use(index);
  return true;
}

void GreedyDual::Remove(uint64_t id) {
  const auto found = index_by_id_.find(id);
  if (found != index_by_id_.end()) Erase(found->second);
}

void GreedyDual::Clear() {
  size_ = 0;
  last_use_ = 0;
  inflation_ = 0;
  nodes_.clear();
  free_.clear();
  heap_.clear();
  index_by_id_.clear();
}

bool GreedyDual::GoesBefore(NodeIndex a, NodeIndex b) const {
  return std::pair(nodes_[a].priority, nodes_[a].last_use) <
         std::pair(nodes_[b].priority, nodes_[b].last_use);
}

// A new entry has priority 0 until its first use, so that it may move both ways in the heap.
void GreedyDual::Use(NodeIndex index) {
  Node& node = nodes_[index];
  ++node.use_count;
  node.priority = inflation_ + static_cast<double>(node.use_count) * value_of_use_(node.weight);
  node.last_use = ++last_use_;
  SiftUp(node.place);
  SiftDown(node.place);
}

void GreedyDual::Put(size_t place, NodeIndex index) {
  heap_[place] = index;
  nodes_[index].place = place;
}

void GreedyDual::SiftUp(size_t place) {
  const NodeIndex index = heap_[place];
  while (place > 0 && GoesBefore(index, heap_[(place - 1) / 2])) {
    Put(place, heap_[(place - 1) / 2]);
    place = (place - 1) / 2;
  }
  Put(place, index);
}

void GreedyDual::SiftDown(size_t place) {
  const NodeIndex index = heap_[place];
  for (;;) {
    size_t child = 2 * place + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && GoesBefore(heap_[child + 1], heap_[child])) ++child;
    if (!GoesBefore(heap_[child], index)) break;
    Put(place, heap_[child]);
    place = child;
  }
  Put(place, index);
}

void GreedyDual::Erase(NodeIndex index) {
  const size_t place = nodes_[index].place;
  const NodeIndex last = heap_.back();
  heap_.pop_back();
  if (last != index) {
    Put(place, last);
    SiftUp(place);
    SiftDown(nodes_[last].place);
  }
  size_ -= nodes_[index].weight.size;
  index_by_id_.erase(nodes_[index].id);
  free_.push_back(index);
}

}  // namespace search::cache
