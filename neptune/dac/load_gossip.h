// What a node has heard of other nodes' loads from the answers that passed through it, and how it passes that on.
//
//   answers of children in trees ──► LoadGossip (one a node) ──► the answer to a poll: the freshest, each with its age
//   answers to own polls ──────────►      │
//                                         └──► load books of the node's calling loops
//
// Every answer in a tree tells the loads of its servers to all above it, so those who reduced lately know most
// servers' loads of a moment ago. One poll brings what one of them knows, in place of one load.
//
//   hearsay   version=1 count(1) then each: str8 node, age(4) pending(4), in microseconds; the freshest first
//
// Beside [Chu03] 4.5 (2), which polls each node for its own load.
// No I/O, no clock.
// Threads: thread-safe.
// Units: pending work as time until all processors of the node are done with it; ages cut at 71 minutes.
// Errors: kDataLoss bytes that are no hearsay.
// Limits: kHeardNodeCountMax nodes, that heard of for longest leaves; kGossipSizeMax bytes and kGossipCountMax
//   nodes an answer, one datagram with what else is in it. Encode is O(n log n).

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "neptune/base/ids.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

inline constexpr size_t kHeardNodeCountMax = 256;
inline constexpr size_t kGossipCountMax = 48;
inline constexpr size_t kGossipSizeMax = 1200;

struct GossipedLoad {
  NodeId node;
  Duration pending{0};
  TimePoint taken_at{};
  friend bool operator==(const GossipedLoad&, const GossipedLoad&) = default;
};

class LoadGossip {
 public:
  // What is older than what is known of the node is dropped.
  void Merge(const GossipedLoad& load);
  std::optional<GossipedLoad> Find(const NodeId& node) const;
  // The freshest of what was heard, as bytes.
  std::string Encode(TimePoint now) const;

 private:
  struct Heard {
    Duration pending{0};
    TimePoint taken_at{};
  };
  mutable LeafMutex mutex_;
  absl::flat_hash_map<NodeId, Heard> heard_ ABSL_GUARDED_BY(mutex_);
};

// Times are as of `now`, less the ages; the way here counts as nothing.
StatusOr<std::vector<GossipedLoad>> DecodeGossip(std::string_view bytes, TimePoint now);

}  // namespace neptune
