#include "neptune/base/metrics.h"

#include <array>

#include "neptune/base/metrics_text.h"
#include "neptune/base/thread_cells.h"
#include "neptune/base/utf8.h"

namespace neptune {
namespace {

// Counters that share blocks of cells. Larger: more memory for a thread that counts in few of them.
constexpr size_t kCellsOfBlock = 64;

constexpr std::array<std::string_view, 3> kHistogramSuffixes = {"_bucket", "_sum", "_count"};

std::string LabelNames(const MetricLabels& labels) {
  std::vector<std::string> names;
  for (const auto& [name, value] : labels) names.push_back(name);
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) StrAppend(&text, text.empty() ? "" : ",", name);
  return text;
}

Status CheckBounds(const HistogramMetricOptions& options) {
  const std::vector<uint64_t>& bounds = options.bounds;
  if (bounds.size() > kHistogramBoundCountMax) {
    return InvalidArgument(bounds.size(), " bounds, limit ", kHistogramBoundCountMax);
  }
  if (std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>()) != bounds.end()) {
    return InvalidArgument("bounds are not increasing");
  }
  if (!(options.unit > 0)) return InvalidArgument("unit is not positive");
  return OkStatus();
}

}  // namespace

std::vector<uint64_t> HistogramMetricOptions::DefaultBounds() {
  std::vector<uint64_t> bounds;
  for (uint64_t decade = 10'000; decade < 10'000'000'000; decade *= 10) {
    for (const uint64_t step : {1, 2, 5}) bounds.push_back(decade * step);
  }
  bounds.push_back(10'000'000'000);
  return bounds;
}

Counter::Counter() : Counter(std::make_shared<ThreadCells>(1), 0) {}

void Counter::Increment(uint64_t by) { cells_->Add(cell_, by); }

uint64_t Counter::value() const { return cells_->Sum(cell_); }

HistogramMetric::HistogramMetric(const HistogramMetricOptions& options)
    : options_(options), histogram_(options.histogram) {}

CallbackGauge& CallbackGauge::operator=(CallbackGauge&& other) noexcept {
  if (this == &other) return *this;
  Remove();
  registry_ = std::exchange(other.registry_, nullptr);
  family_ = std::move(other.family_);
  labels_ = std::move(other.labels_);
  return *this;
}

void CallbackGauge::Remove() {
  if (registry_ != nullptr) std::exchange(registry_, nullptr)->Remove(family_, labels_);
}

struct MetricsRegistry::Family {
  std::string help;
  std::string_view type;
  std::string label_names;
  std::map<std::string, Series, std::less<>> series;
};

struct MetricsRegistry::Definition {
  std::string_view name;
  std::string_view help;
  const MetricLabels& labels;
  std::string_view type;

  Status Check() const;
};

Status MetricsRegistry::Definition::Check() const {
  if (!metrics_text::IsMetricName(name)) return InvalidArgument("bad name \"", name, "\"");
  if (help.empty() || !IsUtf8(help)) return InvalidArgument("help text is empty or not UTF-8");
  if (name.ends_with("_total") != (type == "counter")) {
    return InvalidArgument("names of counters, and only those, end in _total");
  }
  const bool has_bound = std::any_of(labels.begin(), labels.end(),
                                     [](const auto& label) { return label.first == "le"; });
  if (has_bound && type == "histogram")
    return InvalidArgument("label le is reserved for histogram bounds");
  return OkStatus();
}

MetricsRegistry::MetricsRegistry() = default;
MetricsRegistry::~MetricsRegistry() = default;

std::unique_ptr<Counter> MetricsRegistry::MakeCounter() {
  LeafLock lock(&mutex_);
  if (cells_ == nullptr || cell_count_ == kCellsOfBlock) {
    cells_ = std::make_shared<ThreadCells>(kCellsOfBlock);
    cell_count_ = 0;
  }
  return std::make_unique<Counter>(cells_, cell_count_++);
}

StatusOr<Counter*> MetricsRegistry::AddCounter(std::string_view name, std::string_view help,
                                               const MetricLabels& labels) {
  auto counter = MakeCounter();
  Counter* const result = counter.get();
  NEPTUNE_RETURN_IF_ERROR(Add({name, help, labels, "counter"}, std::move(counter)));
  return result;
}

StatusOr<Gauge*> MetricsRegistry::AddGauge(std::string_view name, std::string_view help,
                                           const MetricLabels& labels) {
  auto gauge = std::make_unique<Gauge>();
  Gauge* const result = gauge.get();
  NEPTUNE_RETURN_IF_ERROR(Add({name, help, labels, "gauge"}, std::move(gauge)));
  return result;
}

StatusOr<CallbackGauge> MetricsRegistry::AddCallbackGauge(std::string_view name,
                                                          std::string_view help,
                                                          const MetricLabels& labels,
                                                          std::function<double()> callback) {
  return AddCallback({name, help, labels, "gauge"}, std::move(callback));
}

StatusOr<CallbackGauge> MetricsRegistry::AddCallbackCounter(std::string_view name,
                                                            std::string_view help,
                                                            const MetricLabels& labels,
                                                            std::function<double()> callback) {
  return AddCallback({name, help, labels, "counter"}, std::move(callback));
}

StatusOr<CallbackGauge> MetricsRegistry::AddCallback(const Definition& definition,
                                                     Callback callback) {
  if (callback == nullptr) {
    return InvalidArgument("add metric ", definition.name, ": no callback");
  }
  NEPTUNE_ASSIGN_OR_RETURN(std::string label_text, Add(definition, std::move(callback)));
  return CallbackGauge(this, std::string(definition.name), std::move(label_text));
}

StatusOr<HistogramMetric*> MetricsRegistry::AddHistogram(std::string_view name,
                                                         std::string_view help,
                                                         const MetricLabels& labels,
                                                         const HistogramMetricOptions& options) {
  if (const Status status = CheckBounds(options); !status.ok()) {
    return Annotate(status, StrCat("add metric ", name));
  }
  auto histogram = std::make_unique<HistogramMetric>(options);
  HistogramMetric* const result = histogram.get();
  NEPTUNE_RETURN_IF_ERROR(Add({name, help, labels, "histogram"}, std::move(histogram)));
  return result;
}

StatusOr<std::string> MetricsRegistry::Add(const Definition& definition, Series series) {
  const std::string context = StrCat("add metric ", definition.name);
  if (const Status status = definition.Check(); !status.ok()) return Annotate(status, context);
  StatusOr<std::string> label_text = metrics_text::LabelText(definition.labels);
  if (!label_text.ok()) return Annotate(label_text.status(), context);
  LeafLock lock(&mutex_);
  if (const Status status = CheckAgainstOthers(definition, *label_text); !status.ok()) {
    return Annotate(status, context);
  }
  const auto [entry, is_new] = families_.try_emplace(std::string(definition.name));
  Family& family = entry->second;
  if (is_new) {
    family = {std::string(definition.help), definition.type, LabelNames(definition.labels), {}};
  }
  family.series.emplace(*label_text, std::move(series));
  return label_text;
}

Status MetricsRegistry::CheckAgainstOthers(const Definition& definition,
                                           const std::string& label_text) const {
  const auto entry = families_.find(definition.name);
  if (entry == families_.end()) return CheckNewFamily(definition);
  const Family& family = entry->second;
  if (family.type != definition.type || family.help != definition.help ||
      family.label_names != LabelNames(definition.labels)) {
    return InvalidArgument("type, help or label names differ from the first series");
  }
  if (family.series.contains(label_text)) {
    return FailedPrecondition("series {", label_text, "} exists");
  }
  if (family.series.size() >= kSeriesCountMax) {
    return ResourceExhausted("more than ", kSeriesCountMax, " series");
  }
  return OkStatus();
}

Status MetricsRegistry::CheckNewFamily(const Definition& definition) const {
  if (families_.size() >= kFamilyCountMax) {
    return ResourceExhausted("more than ", kFamilyCountMax, " families");
  }
  for (const std::string_view suffix : kHistogramSuffixes) {
    if (definition.type == "histogram" && families_.contains(StrCat(definition.name, suffix))) {
      return FailedPrecondition("another metric already uses this name with suffix ", suffix);
    }
    if (!definition.name.ends_with(suffix)) continue;
    const auto stem = definition.name.substr(0, definition.name.size() - suffix.size());
    const auto entry = families_.find(stem);
    if (entry != families_.end() && entry->second.type == "histogram") {
      return FailedPrecondition("the name is already used by histogram ", stem);
    }
  }
  return OkStatus();
}

void MetricsRegistry::Remove(const std::string& family, const std::string& labels) {
  LeafLock lock(&mutex_);
  const auto entry = families_.find(family);
  entry->second.series.erase(labels);
  if (entry->second.series.empty()) families_.erase(entry);
}

std::string MetricsRegistry::Text() const {
  struct Appender {
    const std::string& name;
    const std::string& labels;
    std::string* out;

    void operator()(const std::unique_ptr<Counter>& counter) const {
      metrics_text::AppendSample(name, labels, counter->value(), out);
    }
    void operator()(const std::unique_ptr<Gauge>& gauge) const {
      metrics_text::AppendSample(name, labels, gauge->value(), out);
    }
    void operator()(const Callback& callback) const {
      metrics_text::AppendSample(name, labels, callback(), out);
    }
    void operator()(const std::unique_ptr<HistogramMetric>& metric) const {
      metrics_text::AppendHistogram(name, labels, metric->Snapshot(), metric->options(), out);
    }
  };
  std::string text;
  LeafLock lock(&mutex_);
  for (const auto& [name, family] : families_) {
    metrics_text::AppendHead(name, family.help, family.type, &text);
    for (const auto& [labels, series] : family.series) {
      std::visit(Appender{name, labels, &text}, series);
    }
  }
  return text;
}

StatusOr<double> MetricsRegistry::Value(std::string_view name, const MetricLabels& labels) const {
  struct Reader {
    double operator()(const std::unique_ptr<Counter>& counter) const {
      return static_cast<double>(counter->value());
    }
    double operator()(const std::unique_ptr<Gauge>& gauge) const { return gauge->value(); }
    double operator()(const Callback& callback) const { return callback(); }
    double operator()(const std::unique_ptr<HistogramMetric>& metric) const {
      return static_cast<double>(metric->Snapshot().count());
    }
  };
  NEPTUNE_ASSIGN_OR_RETURN(const std::string label_text, metrics_text::LabelText(labels));
  LeafLock lock(&mutex_);
  const auto family = families_.find(name);
  if (family == families_.end()) return NotFound("no metric ", name);
  const auto series = family->second.series.find(label_text);
  if (series == family->second.series.end()) {
    return NotFound("no series ", name, "{", label_text, "}");
  }
  return std::visit(Reader{}, series->second);
}

}  // namespace neptune
