// The replicas to which partitions of lost servers can move: all but those of nodes that were lost
// in this aggregation.
//
// Threads: the aggregation's loop; Choose parks, so it needs a user-level thread.
// Errors: nullopt no replica is left, or the deadline has come.

#pragma once

#include <optional>
#include <set>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/time.h"
#include "neptune/membership/service_yellow_page.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/node_loops.h"

namespace neptune {

class OtherReplicas {
 public:
  // The references outlive this object.
  OtherReplicas(const ServiceName& service, NodeLoop& loop) : service_(service), loop_(loop) {}

  // The node is not tried again while there is another replica.
  void Exclude(const NodeId& node) { lost_.insert(node); }
  // True if one of the partitions has a replica that is neither lost nor on `node`.
  bool Exist(const std::vector<PartitionId>& partitions, const NodeId& node) const;

  enum class Among { kUntried, kAll };
  // The choice is to be concluded, by its outcome or by Forget.
  std::optional<ReplicaChoice> Choose(PartitionId partition, const std::vector<Replica>& replicas,
                                      Among among, TimePoint deadline) const;
  // Concludes a choice whose outcome will not be known.
  void Forget(const ReplicaChoice& choice) const;

 private:
  const ServiceName& service_;
  NodeLoop& loop_;
  std::set<NodeId> lost_;
};

}  // namespace neptune
