#include "neptune/service/class_statistics.h"

#include <functional>
#include <utility>

#include "neptune/base/thread_cells.h"

namespace neptune {
namespace {

// Cells of a class: counts, and times in nanoseconds.
enum Cell : size_t { kArrived, kRan, kProcessor, kResponse, kEnded };
constexpr size_t kCellCount = kEnded + kOutcomeNames.size();

size_t CellOf(ClassNumber number, size_t cell) { return number * kCellCount + cell; }
size_t EndedAs(RequestOutcome outcome) { return kEnded + static_cast<size_t>(outcome); }

}  // namespace

ClassStatistics::ClassStatistics(size_t class_count)
    : records_(class_count), cells_(std::make_unique<ThreadCells>(class_count * kCellCount)) {}

ClassStatistics::~ClassStatistics() = default;

void ClassStatistics::OnArrival(ClassNumber number) { cells_->Add(CellOf(number, kArrived)); }

void ClassStatistics::OnEnd(ClassNumber number, const Status& status) {
  cells_->Add(CellOf(number, EndedAs(RequestOutcomeOf(status))));
}

StatusOr<std::unique_ptr<ClassStatistics>> ClassStatistics::Make(
    MetricsRegistry& registry, const std::string& service,
    const std::vector<std::string>& classes) {
  std::unique_ptr<ClassStatistics> made(new ClassStatistics(classes.size()));
  for (size_t i = 0; i < classes.size(); ++i) {
    made->records_[i].name = classes[i];
    if (classes.size() == 1) break;
    NEPTUNE_RETURN_IF_ERROR(made->Show(registry, service, i));
  }
  return made;
}

Status ClassStatistics::Show(MetricsRegistry& registry, const std::string& service,
                             ClassNumber number) {
  Record* const record = &records_[number];
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
          [this, cell = CellOf(number, EndedAs(outcome))] {
            return static_cast<double>(cells_->Sum(cell));
          });
  });
  count("neptune_class_processor_seconds_total", "Processor time by service class.", labels,
        [this, cell = CellOf(number, kProcessor)] {
          return 1e-9 * static_cast<double>(cells_->Sum(cell));
        });
  NEPTUNE_RETURN_IF_ERROR(status);
  NEPTUNE_ASSIGN_OR_RETURN(
      record->response,
      registry.AddHistogram("neptune_class_response_seconds",
                            "Time from arrival to the end of the method, by service class.",
                            labels));
  return OkStatus();
}

void ClassStatistics::OnRan(ClassNumber number, Duration queued, Duration ran, Duration processor) {
  HistogramMetric* const response = records_[number].response;
  if (response != nullptr) response->Record(queued + ran);
  const ThreadCells::Own cells = cells_->OfThisThread();
  cells.Add(CellOf(number, kRan), static_cast<uint64_t>(ran.count()));
  cells.Add(CellOf(number, kProcessor), static_cast<uint64_t>(processor.count()));
  cells.Add(CellOf(number, kResponse), static_cast<uint64_t>((queued + ran).count()));
}

ClassTotals ClassStatistics::Totals(ClassNumber number) const {
  const auto sum = [&](size_t cell) { return cells_->Sum(CellOf(number, cell)); };
  const auto time = [&](Cell cell) { return Duration(static_cast<int64_t>(sum(cell))); };
  ClassTotals totals;
  totals.arrived = sum(kArrived);
  PerOutcome<Counter>::ForEach([&](RequestOutcome outcome, std::string_view) {
    totals.ended[outcome] = sum(EndedAs(outcome));
  });
  totals.ran = time(kRan);
  totals.processor = time(kProcessor);
  totals.response = time(kResponse);
  return totals;
}

}  // namespace neptune
