#include "neptune/service/class_statistics.h"

#include <functional>
#include <utility>

namespace neptune {

StatusOr<std::unique_ptr<ClassStatistics>> ClassStatistics::Make(
    MetricsRegistry& registry, const std::string& service,
    const std::vector<std::string>& classes) {
  std::unique_ptr<ClassStatistics> made(new ClassStatistics(classes.size()));
  for (size_t i = 0; i < classes.size(); ++i) {
    made->records_[i].name = classes[i];
    if (classes.size() == 1) break;
    NEPTUNE_RETURN_IF_ERROR(made->Show(registry, service, &made->records_[i]));
  }
  return made;
}

Status ClassStatistics::Show(MetricsRegistry& registry, const std::string& service,
                             Record* record) {
  const MetricLabels labels = {{"service", service}, {"class", record->name}};
  Status status;
  const auto count = [&](const char* name, const char* help, const MetricLabels& which,
                         std::function<double()> read) {
    auto series = registry.AddCallbackCounter(name, help, which, std::move(read));
    if (!series.ok()) return status.Update(series.status());
    series_.push_back(*std::move(series));
  };
  PerOutcome<Counter>::ForEach([&](RequestOutcome outcome, std::string_view name) {
    MetricLabels which = labels;
    which.emplace_back("outcome", name);
    count("neptune_class_requests_total", "Requests by service class and outcome.", which,
          [&ended = record->ended[outcome]] { return static_cast<double>(ended.value()); });
  });
  count("neptune_class_processor_seconds_total", "Processor time by service class.", labels,
        [&used = record->processor_ns] { return 1e-9 * static_cast<double>(used.load()); });
  NEPTUNE_RETURN_IF_ERROR(status);
  NEPTUNE_ASSIGN_OR_RETURN(
      record->response,
      registry.AddHistogram("neptune_class_response_seconds",
                            "Time from arrival to the end of the method, by service class.",
                            labels));
  return OkStatus();
}

void ClassStatistics::OnRan(ClassNumber number, Duration queued, Duration ran, Duration processor) {
  Record& record = records_[number];
  constexpr auto kRelaxed = std::memory_order_relaxed;
  if (record.response != nullptr) record.response->Record(queued + ran);
  record.ran_ns.fetch_add(ran.count(), kRelaxed);
  record.processor_ns.fetch_add(processor.count(), kRelaxed);
  record.response_ns.fetch_add((queued + ran).count(), kRelaxed);
}

ClassTotals ClassStatistics::Totals(ClassNumber number) const {
  const Record& record = records_[number];
  ClassTotals totals;
  totals.arrived = record.arrived.value();
  PerOutcome<Counter>::ForEach([&](RequestOutcome outcome, std::string_view) {
    totals.ended[outcome] = record.ended[outcome].value();
  });
  totals.ran = Duration(record.ran_ns.load());
  totals.processor = Duration(record.processor_ns.load());
  totals.response = Duration(record.response_ns.load());
  return totals;
}

}  // namespace neptune
