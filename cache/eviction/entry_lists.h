// Lists of entries over one table: each entry is in at most one list and is found by its id.
//
// The building block of policies that keep entries in order of time. Lists are numbered from 0.
// Threads: thread-compatible.
// Limits: kListCountMax lists; 2^32 - 1 entries. All calls take constant time.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cache/eviction/eviction_policy.h"

namespace search::cache {

class EntryLists {
 public:
  using NodeIndex = uint32_t;
  static constexpr NodeIndex kNone = UINT32_MAX;
  static constexpr size_t kListCountMax = 4;

  struct Node {
    uint64_t id = 0;
    uint64_t size = 0;
    uint32_t cost_us = 0;  // the largest one for all larger costs
    NodeIndex newer = kNone;
    NodeIndex older = kNone;  // also links free nodes
    uint8_t list = 0;
    uint8_t use_count = 0;  // of policies that count uses
  };

  // kNone if there is no such entry.
  NodeIndex Find(uint64_t id) const;
  // Adds an entry that is in no list yet. REQUIRES: there is no entry of that id.
  NodeIndex Add(uint64_t id, EntryWeight weight);
  // REQUIRES: the entry is in no list.
  void SetWeight(NodeIndex index, EntryWeight weight);
  // Puts an entry that is in no list at the newest end of `list`.
  void PushNewest(NodeIndex index, uint8_t list);
  // Takes the entry out of its list.
  void Unlink(NodeIndex index);
  // Unlinks the entry and puts it at the newest end of `list`.
  void Move(NodeIndex index, uint8_t list);
  // Forgets an entry that is in no list.
  void Forget(NodeIndex index);
  // Unlinks and forgets.
  void Erase(NodeIndex index);
  void Clear();

  const Node& operator[](NodeIndex index) const { return nodes_[index]; }
  void SetUseCount(NodeIndex index, uint8_t count) { nodes_[index].use_count = count; }

  // kNone if the list is empty.
  NodeIndex oldest(uint8_t list) const { return lists_[list].oldest; }
  uint64_t size(uint8_t list) const { return lists_[list].size; }
  uint64_t count(uint8_t list) const { return lists_[list].count; }

 private:
  struct List {
    NodeIndex newest = kNone;
    NodeIndex oldest = kNone;
    uint64_t size = 0;
    uint64_t count = 0;
  };

  std::array<List, kListCountMax> lists_;
  std::vector<Node> nodes_;
  NodeIndex free_ = kNone;
  absl::flat_hash_map<uint64_t, NodeIndex> index_by_id_;
};

}  // namespace search::cache
