#include "neptune/dac/other_replicas.h"

namespace neptune {

bool OtherReplicas::Exist(const std::vector<PartitionId>& partitions, const NodeId& node) const {
  const auto view = loop_.client->shared_view();
  for (const PartitionId& partition : partitions) {
    for (const Replica& replica : view->Replicas(service_, partition)) {
      if (!lost_.contains(replica.node) && replica.node != node) return true;
    }
  }
  return false;
}

std::optional<ReplicaChoice> OtherReplicas::Choose(PartitionId partition,
                                                   const std::vector<Replica>& replicas,
                                                   Among among, TimePoint deadline) const {
  std::vector<NodeId> tried;
  if (among == Among::kUntried) tried.assign(lost_.begin(), lost_.end());
  return loop_.client->chooser().Choose(service_, partition, replicas, tried, deadline);
}

void OtherReplicas::Forget(const ReplicaChoice& choice) const {
  loop_.client->chooser().Lost(choice, /*failed=*/false);
}

}  // namespace neptune
