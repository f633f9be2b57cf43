// Counts and times of the requests of each service class on one host, since its start.
//
//   /metrics   neptune_class_requests_total{service, class, outcome}
//              neptune_class_response_seconds{service, class}
//              neptune_class_processor_seconds_total{service, class}
//
// The metrics are not exported if there is only one class.
//
// Source: [Shen02] 4.4.1 (accounting by class).
// Threads: thread-safe; each kernel thread counts in cells of its own.
// Units: processor time is that of threads, as the runtime measures it, and of processes that a
//   module reports.
// Errors: those of MetricsRegistry.
// Limits: kServiceClassCountMax classes.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/scheduling/service_class.h"
#include "neptune/service/request_outcome.h"

namespace neptune {

class ThreadCells;

// Totals of one class.
struct ClassTotals {
  uint64_t arrived = 0;
  PerOutcome<uint64_t> ended;
  // Sums over the requests that ran.
  Duration ran{0};
  Duration processor{0};
  Duration response{0};  // from the arrival
};

class ClassStatistics {
 public:
  static StatusOr<std::unique_ptr<ClassStatistics>> Make(MetricsRegistry& registry,
                                                         const std::string& service,
                                                         const std::vector<std::string>& classes);

  ~ClassStatistics();

  void OnArrival(ClassNumber number);
  // Counts the outcome.
  void OnEnd(ClassNumber number, const Status& status);
  // Adds the times of a request that ran.
  void OnRan(ClassNumber number, Duration queued, Duration ran, Duration processor);

  ClassTotals Totals(ClassNumber number) const;
  const std::string& name_of(ClassNumber number) const { return records_[number].name; }
  size_t class_count() const { return records_.size(); }

 private:
  struct Record {
    std::string name;
    HistogramMetric* response = nullptr;  // null: not exported
  };

  explicit ClassStatistics(size_t class_count);
  Status Show(MetricsRegistry& registry, const std::string& service, ClassNumber number);

  std::vector<Record> records_;
  const std::unique_ptr<ThreadCells> cells_;  // counts and times of all classes
  std::vector<CallbackGauge> series_;
};

}  // namespace neptune
