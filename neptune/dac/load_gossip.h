// Load gossip: the loads of other nodes that a node has learned from the answers passing through
// it, and their encoding in answers to polls.
//
//   answers of children ──► LoadGossip (one per node) ──► answer to a poll: freshest loads
//   answers to polls ─────►      └──► load estimators of the node's calling loops
//
// Every answer in a tree carries the loads of its servers to all nodes above them, so a node that
// reduced recently knows fresh loads of most servers. One poll returns all that such a node knows,
// rather than its own load only.
//
//   gossip  version=1 count(1) then each: str8 node, age(4) pending(4), microseconds; freshest
//   first
//
// Departs from source: [Chu03] 4.5 (2) polls each node for its own load only.
// No I/O, no clock.
// Threads: thread-safe.
// Units: pending work is the time until all processors of the node have finished it; ages are
//   clamped to 71 minutes.
// Errors: kDataLoss malformed gossip.
// Limits: kGossipNodeCountMax nodes, the one with the oldest load is evicted; kGossipSizeMax bytes
//   and kGossipCountMax nodes per answer, so that the answer fits one datagram. Encode is O(n log
//   n).

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

inline constexpr size_t kGossipNodeCountMax = 256;
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
  // Stores the load unless a newer one of the node is known.
  void Merge(const GossipedLoad& load);
  std::optional<GossipedLoad> Find(const NodeId& node) const;
  // Encodes the freshest loads.
  std::string Encode(TimePoint now) const;

 private:
  struct Known {
    Duration pending{0};
    TimePoint taken_at{};
  };
  mutable LeafMutex mutex_;
  absl::flat_hash_map<NodeId, Known> known_ ABSL_GUARDED_BY(mutex_);
};

// The times of the loads are `now` less their ages; transmission time is ignored.
StatusOr<std::vector<GossipedLoad>> DecodeGossip(std::string_view bytes, TimePoint now);

}  // namespace neptune
