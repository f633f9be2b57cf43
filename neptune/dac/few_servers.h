// Which replicas of a partition cost a call the fewest messages.
//
//   replicas on servers that the call asks anyway
//   else, those on the servers that hold the most of the partitions not placed yet
//   else, those on servers that another call on behalf of the same request asks
//
// Each server of a call costs it a task and an answer (README.md says how much). Partitions that
// are placed on what this prefers are on about as few servers as can have them: it is the greedy
// cover, which need not be the smallest. Load balancing decides whether a preference is followed
// (balancing/probe_pool.h).
//
// Departs from [Chu03] 4, which places each partition by itself.
// No I/O, no clock.
// Threads: thread-compatible; lives for one placement.

#pragma once

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "neptune/base/ids.h"
#include "neptune/membership/service_yellow_page.h"

namespace neptune {

class FewServers {
 public:
  // `others`: servers of another call for the same request; outlives this object.
  explicit FewServers(const std::vector<NodeId>& others) : others_(others) {}

  // A partition that will be placed has these replicas. Call it for all of them first.
  void Expect(const std::vector<Replica>& replicas);
  // The preferred ones of an expected partition's replicas, ascending; empty: all cost the same.
  std::vector<size_t> Preferred(const std::vector<Replica>& replicas) const;
  // The partition with these replicas was placed on one of them.
  void Place(const std::vector<Replica>& replicas, size_t chosen);

 private:
  bool IsAskedByOther(const NodeId& node) const;

  const std::vector<NodeId>& others_;
  absl::flat_hash_map<NodeId, size_t> unplaced_;  // partitions that a server holds
  absl::flat_hash_set<NodeId> asked_;
};

}  // namespace neptune
