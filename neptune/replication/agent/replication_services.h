// The services by which nodes exchange what their replicas need.
//
// Threads: immutable values.

#pragma once

namespace neptune {

// The control service and the method by which nodes exchange replicas' messages.
inline constexpr char kReplicationService[] = "neptune.replication";
inline constexpr char kExchangeMethod[] = "Exchange";
// The service and the method by which a node pulls a replica's data.
inline constexpr char kSnapshotService[] = "neptune.snapshots";
inline constexpr char kPullMethod[] = "PullSnapshot";

}  // namespace neptune
