// What a node's metrics say of a replica: what it is, how far its log and its data are, what it sent and took.
//
// Threads: Make and the destructor by the owner; series are read on any thread.
// Units: positions are log sequence numbers. A replica whose age is not known, as at level 1, says NaN for it.
// Errors: those of MetricsRegistry.

#pragma once

#include <vector>

#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/replication/replica_agent.h"
#include "neptune/world/loop.h"

namespace neptune {

class ReplicaMetrics {
 public:
  // Labels: service, partition. All three outlive it; `control` is the agent's.
  static StatusOr<ReplicaMetrics> Make(MetricsRegistry& registry, const ReplicaAgent& agent,
                                       const Loop& control);

 private:
  std::vector<CallbackGauge> series_;
};

}  // namespace neptune
