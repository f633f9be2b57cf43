// Metrics of the directory that transports a node's announcements.
//
// Threads: as the registry's metrics.

#pragma once

#include <cstddef>

#include "neptune/base/metrics.h"

namespace neptune {

// Maximum number of entries read by one poll.
inline constexpr size_t kDirectoryEntryCountMax = 8192;

struct DirectoryMetrics {
  Counter* failures = nullptr;  // failed requests, or failed polls and writes
  Counter* refused = nullptr;   // entries that are not announcements of the cluster
  Gauge* available = nullptr;   // 1 while the directory answers

  static StatusOr<DirectoryMetrics> Make(MetricsRegistry& registry);
};

}  // namespace neptune
