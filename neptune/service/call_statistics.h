// Outcomes and times of a node's outgoing calls and streams, by service and method; shown by the
// metrics and the status page.
//
// Threads: thread-safe; a call of a method that was called lately takes no lock, and is counted in
//   cells of its kernel thread.
// Units: seconds in the metrics.
// Limits: kCalledMethodCountMax methods; calls of further ones are not counted.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/base/thread_cells.h"
#include "neptune/base/time.h"

namespace neptune {

inline constexpr size_t kCalledMethodCountMax = 160;  // times outcomes: below kSeriesCountMax

class CallStatistics {
 public:
  explicit CallStatistics(MetricsRegistry& metrics) : metrics_(metrics) {}

  // The cost of a finished call.
  struct Effort {
    int attempts = 0;  // servers tried
    Duration duration{0};
    bool hedged = false;
    bool retry_denied = false;
  };
  void Record(const ServiceName& service, const MethodName& method, const Status& status,
              const Effort& effort);
  // Appends a table of the called methods.
  void Describe(StatusReport* report) const;

 private:
  // What is counted of a method: calls by outcome, and the effort for them.
  enum Cell : size_t {
    kOk,
    kExpired,
    kRefused,
    kUnavailable,
    kCancelled,
    kFailed,
    kAttempts,
    kHedges,
    kDeniedRetries,
    kCellCount
  };
  struct Entry {
    ServiceName service;
    MethodName method;
    mutable ThreadCells counts{kCellCount};
    std::vector<CallbackGauge> series;  // of `counts`
    HistogramMetric* duration = nullptr;
  };
  static Cell CellOf(const Status& status);
  // Returns null beyond the limit of kCalledMethodCountMax.
  const Entry* Find(const ServiceName& service, const MethodName& method);
  StatusOr<std::unique_ptr<Entry>> Make(const ServiceName& service, const MethodName& method);
  Status Show(const char* name, const char* help, const MetricLabels& labels, Cell cell,
              Entry* entry);

  const Entry* FindLocked(const ServiceName& service, const MethodName& method)
      ABSL_LOCKS_EXCLUDED(mutex_);

  using Entries = std::map<std::string, std::unique_ptr<Entry>, std::less<>>;

  MetricsRegistry& metrics_;
  // Entries that were used lately, by their names: they are found without the lock.
  std::array<std::atomic<const Entry*>, 64> recent_{};
  mutable LeafMutex mutex_;
  // Entries by service, then by method, so that a lookup builds no key.
  std::map<std::string, Entries, std::less<>> entries_ ABSL_GUARDED_BY(mutex_);
  size_t entry_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace neptune
