#include "neptune/service/call_statistics.h"

#include <glog/logging.h>

#include <utility>

namespace neptune {
namespace {

// Returns where a method is looked for among the recent ones: a number that differs for most.
size_t PlaceOf(const std::string& service, const std::string& method) {
  const auto mark = [](const std::string& name) {
    return name.empty() ? size_t{0}
                        : name.size() + 5 * static_cast<unsigned char>(name.back()) +
                              17 * static_cast<unsigned char>(name.front());
  };
  return mark(service) + 7 * mark(method);
}

}  // namespace

CallStatistics::Cell CallStatistics::CellOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return kOk;
    case StatusCode::kDeadlineExceeded:
      return kExpired;
    case StatusCode::kResourceExhausted:
      return kRefused;
    case StatusCode::kUnavailable:
      return kUnavailable;
    case StatusCode::kCancelled:
      return kCancelled;
    default:
      return kFailed;
  }
}

Status CallStatistics::Show(const char* name, const char* help, const MetricLabels& labels,
                            Cell cell, Entry* entry) {
  NEPTUNE_ASSIGN_OR_RETURN(CallbackGauge series,
                           metrics_.AddCallbackCounter(name, help, labels, [entry, cell] {
                             return static_cast<double>(entry->counts.Sum(cell));
                           }));
  entry->series.push_back(std::move(series));
  return OkStatus();
}

StatusOr<std::unique_ptr<CallStatistics::Entry>> CallStatistics::Make(const ServiceName& service,
                                                                      const MethodName& method) {
  auto entry = std::make_unique<Entry>();
  entry->service = service;
  entry->method = method;
  const MetricLabels labels = {{"service", service.value()}, {"method", method.value()}};
  constexpr std::pair<const char*, Cell> kOutcomes[] = {
      {"ok", kOk},           {"expired", kExpired},
      {"refused", kRefused}, {"unavailable", kUnavailable},
      {"failed", kFailed},   {"cancelled", kCancelled}};
  for (const auto& [outcome, cell] : kOutcomes) {
    MetricLabels with_outcome = labels;
    with_outcome.emplace_back("outcome", outcome);
    NEPTUNE_RETURN_IF_ERROR(Show("neptune_calls_total", "Calls to other services, by outcome.",
                                 with_outcome, cell, entry.get()));
  }
  NEPTUNE_RETURN_IF_ERROR(Show("neptune_call_attempts_total",
                               "Servers tried by calls to other services.", labels, kAttempts,
                               entry.get()));
  NEPTUNE_RETURN_IF_ERROR(Show("neptune_call_hedges_total", "Calls hedged to a second server.",
                               labels, kHedges, entry.get()));
  NEPTUNE_RETURN_IF_ERROR(Show("neptune_call_denied_retries_total",
                               "Retries and hedges suppressed by the retry budget.", labels,
                               kDeniedRetries, entry.get()));
  NEPTUNE_ASSIGN_OR_RETURN(
      entry->duration,
      metrics_.AddHistogram("neptune_call_seconds",
                            "Duration of calls to other services, including waits.", labels));
  return entry;
}

const CallStatistics::Entry* CallStatistics::Find(const ServiceName& service,
                                                  const MethodName& method) {
  auto& recent = recent_[PlaceOf(service.value(), method.value()) % recent_.size()];
  const Entry* entry = recent.load(std::memory_order_acquire);
  if (entry != nullptr && entry->method == method && entry->service == service) return entry;
  entry = FindLocked(service, method);
  if (entry != nullptr) recent.store(entry, std::memory_order_release);
  return entry;
}

const CallStatistics::Entry* CallStatistics::FindLocked(const ServiceName& service,
                                                        const MethodName& method) {
  LeafLock lock(&mutex_);
  if (const auto of_service = entries_.find(service.value()); of_service != entries_.end()) {
    const auto found = of_service->second.find(method.value());
    if (found != of_service->second.end()) return found->second.get();
  }
  if (entry_count_ >= kCalledMethodCountMax) return nullptr;
  StatusOr<std::unique_ptr<Entry>> made = Make(service, method);
  if (!made.ok()) {
    LOG_EVERY_N(ERROR, 1000) << "calls to " << service << "." << method
                             << " are not counted: " << made.status();
    return nullptr;
  }
  ++entry_count_;
  return entries_[service.value()].emplace(method.value(), *std::move(made)).first->second.get();
}

void CallStatistics::Record(const ServiceName& service, const MethodName& method,
                            const Status& status, const Effort& effort) {
  const Entry* const entry = Find(service, method);
  if (entry == nullptr) return;
  const ThreadCells::Own counts = entry->counts.OfThisThread();
  counts.Add(CellOf(status));
  counts.Add(kAttempts, static_cast<uint64_t>(effort.attempts));
  if (effort.hedged) counts.Add(kHedges);
  if (effort.retry_denied) counts.Add(kDeniedRetries);
  entry->duration->Record(effort.duration);
}

void CallStatistics::Describe(StatusReport* report) const {
  StatusTable table{"Calls to other services",
                    {"service", "method", "ok", "unavailable", "refused", "expired", "cancelled",
                     "failed", "servers tried", "hedged", "retries denied", "p50 ms", "p99 ms"},
                    {}};
  LeafLock lock(&mutex_);
  for (const auto& [service, methods] : entries_) {
    for (const auto& [method, entry] : methods) {
      const Histogram times = entry->duration->Snapshot();
      constexpr double kNsPerMs = 1e6;
      const auto count = [&entry = *entry](Cell cell) { return entry.counts.Sum(cell); };
      table.AddRow(service, method, count(kOk), count(kUnavailable), count(kRefused),
                   count(kExpired), count(kCancelled), count(kFailed), count(kAttempts),
                   count(kHedges), count(kDeniedRetries),
                   static_cast<double>(times.Percentile(0.50)) / kNsPerMs,
                   static_cast<double>(times.Percentile(0.99)) / kNsPerMs);
    }
  }
  report->tables.push_back(std::move(table));
}

}  // namespace neptune
