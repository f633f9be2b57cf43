// What became of a node's outgoing calls, by service: for metrics and the status page.
//
// Source: none. Layer: service.
// Threads: thread-safe.
// Units: seconds in the metrics' text.
// Limits: kCalledServiceCountMax services; calls of further ones are not counted.

#pragma once

#include <map>
#include <memory>
#include <string>

#include "neptune/base/ids.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/base/time.h"

namespace neptune {

inline constexpr size_t kCalledServiceCountMax = 128;

class CallStatistics {
 public:
  explicit CallStatistics(MetricsRegistry& metrics) : metrics_(metrics) {}

  // One finished call with the number of servers tried.
  void Record(const ServiceName& service, const Status& status, int attempts, Duration duration);
  // A table of the services called.
  void Describe(StatusReport* report) const;

 private:
  struct Entry {
    Counter* ok = nullptr;
    Counter* expired = nullptr;
    Counter* refused = nullptr;
    Counter* unavailable = nullptr;
    Counter* failed = nullptr;
    Counter* attempts = nullptr;
    HistogramMetric* duration = nullptr;

    Counter& ForStatus(const Status& status) const;
  };
  // Null beyond the limit.
  const Entry* Find(const ServiceName& service);
  StatusOr<std::unique_ptr<Entry>> Make(const ServiceName& service);

  MetricsRegistry& metrics_;
  mutable LeafMutex mutex_;
  std::map<std::string, std::unique_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
