// What a node counts of the directory that its announcements go by, whichever that is.
//
// Threads: as the registry's metrics.

#pragma once

#include <cstddef>

#include "neptune/base/metrics.h"

namespace neptune {

// Entries that one look reads at most.
inline constexpr size_t kDirectoryEntryCountMax = 8192;

struct DirectoryMetrics {
  Counter* failures = nullptr;  // requests, or looks and writes, without a usable answer
  Counter* refused = nullptr;   // entries that are no announcement of the cluster
  Gauge* available = nullptr;   // 1 while the directory answers

  static StatusOr<DirectoryMetrics> Make(MetricsRegistry& registry);
};

}  // namespace neptune
