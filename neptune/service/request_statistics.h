// What a service records of its requests: counts and times by method and by class, and the spans of
// sampled requests.
//
//   /metrics   neptune_requests_total, neptune_queue_seconds, ... of each method (method_table.h)
//              those of class_statistics.h
//              neptune_ended_early_released_total{service, held}, under a time limit
//
// Threads: Start before the first request; the rest on any thread.
// Errors: Start: those of MetricsRegistry.

#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/metrics.h"
#include "neptune/sert/request_holdings.h"
#include "neptune/service/class_statistics.h"
#include "neptune/service/request_context.h"
#include "neptune/service/span_log.h"
#include "neptune/service/taken_request.h"

namespace neptune {

class RequestStatistics {
 public:
  // `counts`: see ServiceHostOptions::with_statistics.
  RequestStatistics(const ServiceName& service, SpanLog& spans, bool counts)
      : service_(service), spans_(spans), counts_(counts) {}

  // Registers the metrics. `with_limit`: the service has a time limit.
  Status Start(MetricsRegistry& metrics, const std::vector<std::string>& classes, bool with_limit);

  void OnArrival(ClassNumber service_class) {
    if (counts_) classes_->OnArrival(service_class);
  }
  // The request was answered without being run.
  void OnRefused(const TakenRequest& taken, const Status& status);
  // The method has run. Not called for streams.
  void OnRan(const ServedRequest& served, const RequestRun& end) {
    if (!counts_) return;
    classes_->OnRan(served.service_class, end.begin - served.request.received, end.ran(),
                    end.processor);
  }
  // The request has ended, with any outcome.
  void OnEnded(const ServedRequest& served, const RequestContext& context, const RequestRun& end,
               World& world);
  // Requests that were ended early held `count` resources that their end released.
  void OnReleased(HeldKind kind, int count) {
    released_[static_cast<size_t>(kind)]->Increment(count);
  }

  ClassTotals TotalsOf(ClassNumber number) const { return classes_->Totals(number); }

 private:
  const ServiceName service_;
  SpanLog& spans_;
  const bool counts_;
  std::unique_ptr<ClassStatistics> classes_;  // after Start
  std::array<Counter*, kHeldKinds.size()> released_{};
};

}  // namespace neptune
