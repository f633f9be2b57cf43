#include "cache/eviction/entry_lists.h"

#include <algorithm>

namespace search::cache {

EntryLists::NodeIndex EntryLists::Find(uint64_t id) const {
  const auto found = index_by_id_.find(id);
  return found == index_by_id_.end() ? kNone : found->second;
}

EntryLists::NodeIndex EntryLists::Add(uint64_t id, EntryWeight weight) {
  NodeIndex index = free_;
  if (index == kNone) {
    index = static_cast<NodeIndex>(nodes_.size());
    nodes_.emplace_back();
  } else {
    free_ = nodes_[index].older;
  }
  nodes_[index] = Node{.id = id};
  SetWeight(index, weight);
  index_by_id_[id] = index;
  return index;
}

void EntryLists::SetWeight(NodeIndex index, EntryWeight weight) {
  nodes_[index].size = weight.size;
  nodes_[index].cost_us = static_cast<uint32_t>(std::min<uint64_t>(weight.cost_us, UINT32_MAX));
}

void EntryLists::PushNewest(NodeIndex index, uint8_t list_number) {
  List& list = lists_[list_number];
  Node& node = nodes_[index];
  node.list = list_number;
  node.newer = kNone;
  node.older = list.newest;
  (list.newest == kNone ? list.oldest : nodes_[list.newest].newer) = index;
  list.newest = index;
  list.size += node.size;
  ++list.count;
}

void EntryLists::Unlink(NodeIndex index) {
  const Node& node = nodes_[index];
  List& list = lists_[node.list];
  (node.newer == kNone ? list.newest : nodes_[node.newer].older) = node.older;
  (node.older == kNone ? list.oldest : nodes_[node.older].newer) = node.newer;
  list.size -= node.size;
  --list.count;
}

void EntryLists::Move(NodeIndex index, uint8_t list) {
  Unlink(index);
  PushNewest(index, list);
}

void EntryLists::Forget(NodeIndex index) {
  index_by_id_.erase(nodes_[index].id);
  nodes_[index].older = free_;
  free_ = index;
}

void EntryLists::Erase(NodeIndex index) {
  Unlink(index);
  Forget(index);
}

void EntryLists::Clear() {
  lists_ = {};
  nodes_.clear();
  free_ = kNone;
  index_by_id_.clear();
}

}  // namespace search::cache
