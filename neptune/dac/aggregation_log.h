// Log of the latest aggregations that a node called, for its status page: each tree with the
// timeline of its servers.
//
// Threads: thread-safe.
// Limits: kAggregationLogSize calls; only the first kLoggedServerCountMax servers of a tree are
//   kept.

#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status_section.h"
#include "neptune/dac/dac.h"

namespace neptune {

inline constexpr size_t kAggregationLogSize = 16;
inline constexpr size_t kLoggedServerCountMax = 64;

class AggregationLog {
 public:
  void Keep(const ServiceName& service, const AggregationReport& report, const Status& status);
  // Appends a table per call, latest first.
  void Describe(StatusReport* report) const;

 private:
  struct Entry {
    ServiceName service;
    AggregationReport report;
    StatusCode outcome = StatusCode::kOk;
  };
  mutable LeafMutex mutex_;
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
