// A node's error counters below its services, one for each degraded path.
//
// Threads: counters are thread-safe.

#pragma once

#include "neptune/base/metrics.h"
#include "neptune/base/status.h"

namespace neptune {

struct NodeMetrics {
  Counter* announcements_refused = nullptr;
  Counter* nodes_expired = nullptr;
  Counter* nodes_excluded = nullptr;
  Counter* slow_polls = nullptr;
  Counter* broken_connections = nullptr;
  Counter* refused_connections = nullptr;
  Counter* late_answers = nullptr;

  static StatusOr<NodeMetrics> Make(MetricsRegistry& registry);
};

}  // namespace neptune
