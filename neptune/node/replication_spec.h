// Converts the replication settings of the cluster spec to replication options.
//
// Source: [Shen02] 5.2 (level of consistency by service, priority of replicas by partition).
// Threads: pure functions.
// Errors: kInvalidArgument with the reason: unknown levels and witnesses, a staleness for a level
//   that does not bound it, a witness or a mode for a level without primaries, partitions with no
//   or too many hosts.
// Limits: kMemberCountMax members per partition, including the witness.

#pragma once

#include <vector>

#include "neptune/base/status.h"
#include "neptune/node/cluster_spec.pb.h"
#include "neptune/replication/agent/replication.h"

namespace neptune {

// REQUIRES: nodes and services are complete.
Status CheckReplication(const ClusterSpec& spec, const ServiceSpec& service);

// Returns the nodes in order of preference, then the witness. REQUIRES for all functions below: the
// spec is complete.
std::vector<ReplicaMember> MembersOf(const ClusterSpec& spec, const ServiceSpec& service,
                                     PartitionId partition);
// REQUIRES: the service has a replication.
ReplicationOptions ReplicationOptionsOf(const ClusterSpec& spec, const ServiceSpec& service);
// True if the node hosts, or is the witness of, a partition of a replicated service.
bool KeepsReplicas(const ClusterSpec& spec, const NodeId& node);
// Returns the partitions that the node is a witness of.
std::vector<std::pair<ServiceName, PartitionId>> WitnessedBy(const ClusterSpec& spec,
                                                             const NodeId& node);

}  // namespace neptune
