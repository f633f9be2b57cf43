// Replication of services, from the cluster spec to what nodes run.
//
// Source: [Shen02] 5.2 (level of consistency by service, priority of replicas by partition).
// Threads: pure functions.
// Errors: kInvalidArgument with the reason: unknown levels and witnesses, a staleness where none is bounded, a witness
//   or a mode where there is no primary, partitions that nobody or too many nodes hold.
// Limits: kMemberCountMax members a partition, the witness included.

#pragma once

#include <vector>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.pb.h"
#include "neptune/replication/agent/replication.h"

namespace neptune {

// REQUIRES: nodes and services are complete.
Status CheckReplication(const ClusterSpec& spec, const ServiceSpec& service);

// REQUIRES for all: the spec is complete. Nodes in the order in which they are preferred, then the witness.
std::vector<ReplicaMember> MembersOf(const ClusterSpec& spec, const ServiceSpec& service,
                                     PartitionId partition);
// REQUIRES: the service has a replication.
ReplicationOptions ReplicationOptionsOf(const ClusterSpec& spec, const ServiceSpec& service);
// Whether the node holds, or is a witness of, a partition of a replicated service.
bool KeepsReplicas(const ClusterSpec& spec, const NodeId& node);
// What the node is a witness of.
std::vector<std::pair<ServiceName, PartitionId>> WitnessedBy(const ClusterSpec& spec,
                                                             const NodeId& node);

}  // namespace neptune
