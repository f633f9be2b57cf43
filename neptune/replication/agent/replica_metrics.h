// Metrics of a replica: role, positions of its log and data, snapshots sent and restored.
//
// Threads: Make and the destructor by the owner; series are read on any thread.
// Units: positions are log sequence numbers. Unknown staleness, as at `write_anywhere`, is NaN.
// Errors: those of MetricsRegistry.

#pragma once

#include <vector>

#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/replication/agent/replica_keeper.h"
#include "neptune/world/loop.h"

namespace neptune {

class ReplicaMetrics {
 public:
  // Labels: service, partition. All arguments must outlive the metrics; `control` is the replica's
  // loop.
  static StatusOr<ReplicaMetrics> Make(MetricsRegistry& registry, const ReplicaKeeper& keeper,
                                       const Loop& control);

 private:
  std::vector<CallbackGauge> series_;
};

}  // namespace neptune
