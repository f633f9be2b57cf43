#include "neptune/service/call_statistics.h"

#include <glog/logging.h>

#include <utility>

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
    default:
      return *failed;
  }
}

StatusOr<std::unique_ptr<CallStatistics::Entry>> CallStatistics::Make(const ServiceName& service) {
  auto entry = std::make_unique<Entry>();
  const std::pair<const char*, Counter**> outcomes[] = {{"ok", &entry->ok},
                                                        {"expired", &entry->expired},
                                                        {"refused", &entry->refused},
                                                        {"unavailable", &entry->unavailable},
                                                        {"failed", &entry->failed}};
  for (const auto& [outcome, counter] : outcomes) {
    NEPTUNE_ASSIGN_OR_RETURN(
        *counter, metrics_.AddCounter("neptune_calls_total", "Calls to other services, by outcome.",
                                      {{"service", service.value()}, {"outcome", outcome}}));
  }
  NEPTUNE_ASSIGN_OR_RETURN(entry->attempts,
                           metrics_.AddCounter("neptune_call_attempts_total",
                                               "Servers tried by calls to other services.",
                                               {{"service", service.value()}}));
  NEPTUNE_ASSIGN_OR_RETURN(entry->duration,
                           metrics_.AddHistogram("neptune_call_seconds",
                                                 "Time of calls to other services, waits included.",
                                                 {{"service", service.value()}}));
  return entry;
}

const CallStatistics::Entry* CallStatistics::Find(const ServiceName& service) {
  LeafLock lock(&mutex_);
  if (const auto found = entries_.find(service.value()); found != entries_.end()) {
    return found->second.get();
  }
  if (entries_.size() >= kCalledServiceCountMax) return nullptr;
  StatusOr<std::unique_ptr<Entry>> made = Make(service);
  if (!made.ok()) {
    LOG_EVERY_N(ERROR, 1000) << "calls to " << service << " are not counted: " << made.status();
    return nullptr;
  }
  return entries_.emplace(service.value(), *std::move(made)).first->second.get();
}

void CallStatistics::Record(const ServiceName& service, const Status& status, int attempts,
                            Duration duration) {
  const Entry* const entry = Find(service);
  if (entry == nullptr) return;
  entry->ForStatus(status).Increment();
  entry->attempts->Increment(static_cast<uint64_t>(attempts));
  entry->duration->Record(duration);
}

void CallStatistics::Describe(StatusReport* report) const {
  StatusTable table{"Calls to other services",
                    {"service", "ok", "unavailable", "refused", "expired", "failed",
                     "servers tried", "p50 ms", "p99 ms"},
                    {}};
  LeafLock lock(&mutex_);
  for (const auto& [service, entry] : entries_) {
    const Histogram times = entry->duration->Snapshot();
    constexpr double kNsPerMs = 1e6;
    table.AddRow(service, entry->ok->value(), entry->unavailable->value(), entry->refused->value(),
                 entry->expired->value(), entry->failed->value(), entry->attempts->value(),
                 static_cast<double>(times.Percentile(0.50)) / kNsPerMs,
                 static_cast<double>(times.Percentile(0.99)) / kNsPerMs);
  }
  report->tables.push_back(std::move(table));
}

}  // namespace neptune
