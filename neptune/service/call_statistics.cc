#include "neptune/service/call_statistics.h"

#include <glog/logging.h>

#include <utility>

#include "absl/hash/hash.h"

namespace neptune {

Counter& CallStatistics::Entry::ForStatus(const Status& status) const {
  switch (status.code()) {
    case StatusCode::kOk:
      return *ok;
    case StatusCode::kDeadlineExceeded:
      return *expired;
    case StatusCode::kResourceExhausted:
      return *refused;
    case StatusCode::kUnavailable:
      return *unavailable;
    case StatusCode::kCancelled:
      return *cancelled;
    default:
      return *failed;
  }
}

StatusOr<std::unique_ptr<CallStatistics::Entry>> CallStatistics::Make(const ServiceName& service,
                                                                      const MethodName& method) {
  auto entry = std::make_unique<Entry>();
  entry->service = service;
  entry->method = method;
  const MetricLabels labels = {{"service", service.value()}, {"method", method.value()}};
  const std::pair<const char*, Counter**> outcomes[] = {
      {"ok", &entry->ok},           {"expired", &entry->expired},
      {"refused", &entry->refused}, {"unavailable", &entry->unavailable},
      {"failed", &entry->failed},   {"cancelled", &entry->cancelled}};
  for (const auto& [outcome, counter] : outcomes) {
    MetricLabels with_outcome = labels;
    with_outcome.emplace_back("outcome", outcome);
    NEPTUNE_ASSIGN_OR_RETURN(
        *counter, metrics_.AddCounter("neptune_calls_total", "Calls to other services, by outcome.",
                                      with_outcome));
  }
  NEPTUNE_ASSIGN_OR_RETURN(
      entry->attempts, metrics_.AddCounter("neptune_call_attempts_total",
                                           "Servers tried by calls to other services.", labels));
  NEPTUNE_ASSIGN_OR_RETURN(
      entry->hedges,
      metrics_.AddCounter("neptune_call_hedges_total", "Calls hedged to a second server.", labels));
  NEPTUNE_ASSIGN_OR_RETURN(
      entry->denied_retries,
      metrics_.AddCounter("neptune_call_denied_retries_total",
                          "Retries and hedges suppressed by the retry budget.", labels));
  NEPTUNE_ASSIGN_OR_RETURN(
      entry->duration,
      metrics_.AddHistogram("neptune_call_seconds",
                            "Duration of calls to other services, including waits.", labels));
  return entry;
}

const CallStatistics::Entry* CallStatistics::Find(const ServiceName& service,
                                                  const MethodName& method) {
  auto& recent = recent_[absl::HashOf(service, method) % recent_.size()];
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
  entry->ForStatus(status).Increment();
  entry->attempts->Increment(static_cast<uint64_t>(effort.attempts));
  if (effort.hedged) entry->hedges->Increment();
  if (effort.retry_denied) entry->denied_retries->Increment();
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
      table.AddRow(service, method, entry->ok->value(), entry->unavailable->value(),
                   entry->refused->value(), entry->expired->value(), entry->cancelled->value(),
                   entry->failed->value(), entry->attempts->value(), entry->hedges->value(),
                   entry->denied_retries->value(),
                   static_cast<double>(times.Percentile(0.50)) / kNsPerMs,
                   static_cast<double>(times.Percentile(0.99)) / kNsPerMs);
    }
  }
  report->tables.push_back(std::move(table));
}

}  // namespace neptune
