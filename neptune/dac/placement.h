// Placement of one call: the replica of each partition, and the partitions of each server.
//
// Partitions are placed on few servers, as far as load balancing agrees (few_servers.h).
//
// Source: [Chu03] 4, figure 6.
// Threads: a user-level thread of the loop, because choosing a replica may park.

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/time.h"
#include "neptune/dac/aggregation_message.h"
#include "neptune/service/loop_client.h"

namespace neptune {

struct Placement {
  std::vector<TreeMember> members;  // one per server, without children
  // The choice of each placed partition with the index of its member; each must be concluded.
  std::vector<std::pair<size_t, ReplicaChoice>> choices;
  std::vector<MissingPartition> missing;  // partitions without a live replica

  size_t partition_count() const { return choices.size() + missing.size(); }
};

// Duplicate partitions count once. `others`: servers of another call on behalf of the same request,
// whose tasks may travel together with those of this one.
Placement PlacePartitions(LoopClient& client, const ServiceName& service,
                          std::vector<PartitionId> partitions, TimePoint deadline,
                          const std::vector<NodeId>& others = {});

}  // namespace neptune
