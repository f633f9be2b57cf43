// Metrics of all replicas of a node together, which are as many however many replicas there are.
//
// Threads: Make and the destructor by the owner; series are read on any thread.
// Errors: those of MetricsRegistry.

#pragma once

#include <functional>
#include <vector>

#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/replication/agent/replica_keeper.h"

namespace neptune {

class ReplicaTotals {
 public:
  // Visits all replicas of the node; any thread.
  using ForEach = std::function<void(const std::function<void(const ReplicaKeeper& replica)>&)>;
  // The registry and what `for_each` uses must outlive the metrics.
  static StatusOr<ReplicaTotals> Make(MetricsRegistry& registry, ForEach for_each);

 private:
  std::vector<CallbackGauge> series_;
};

}  // namespace neptune
