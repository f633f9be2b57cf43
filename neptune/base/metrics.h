// Metrics of a node: counters, gauges and histograms with labels, shown as Prometheus text.
//
//   MetricsRegistry ── family (name, help, type) ── series (labels) ── Counter | Gauge | Histogram
//
// A node owns one registry and passes it to its parts. There is no global registry: one process can
// hold the registries of thousands of simulated nodes. A part adds its series once, when it starts,
// and keeps the pointers; series live as long as the registry. Updating a counter or a histogram
// costs a few plain instructions: each kernel thread counts in memory of its own (thread_cells.h),
// and a reader adds up. A gauge is one atomic value.
//
// Threads: thread-safe. Gauge callbacks run on the rendering thread under the registry's lock: they
//   must be thread-safe and short, must not wait and must not call the registry.
// Units: the text uses base units, given by the suffix of the name: _seconds, _bytes, _ratio;
//   counters end in _total.
// Errors: INVALID_ARGUMENT the name, a label or the help breaks the grammar, or the type, help or
//   label names of a series differ from those of its family; FAILED_PRECONDITION the series exists
//   already or the name collides with another family's; RESOURCE_EXHAUSTED a limit below is
//   exceeded.
// Limits: kFamilyCountMax families, kSeriesCountMax series a family, kLabelCountMax labels a
//   series, kLabelSizeMax bytes a label value, kHistogramBoundCountMax bounds a histogram.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "neptune/base/histogram.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

inline constexpr size_t kSeriesCountMax = 1000;
inline constexpr size_t kFamilyCountMax = 1000;
inline constexpr size_t kLabelCountMax = 8;
inline constexpr size_t kLabelSizeMax = 256;
inline constexpr size_t kHistogramBoundCountMax = 100;

// Name and value of each label; the order does not matter.
using MetricLabels = std::vector<std::pair<std::string, std::string>>;

class ThreadCells;

// A value that only increases.
class Counter {
 public:
  Counter();
  // Counts in that cell. Counters that share an object take less memory.
  Counter(std::shared_ptr<ThreadCells> cells, size_t cell)
      : cells_(std::move(cells)), cell_(cell) {}

  void Increment(uint64_t by = 1);
  // Adds up what all threads have counted.
  uint64_t value() const;

 private:
  const std::shared_ptr<ThreadCells> cells_;
  const size_t cell_;
};

class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  void Add(double by) { value_.fetch_add(by, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

struct HistogramMetricOptions {
  HistogramOptions histogram;
  // Value of one recorded unit in the unit of the text. Default: nanoseconds recorded, seconds
  // shown.
  double unit = 1e-9;
  // Upper bounds of the buckets in the text, in recorded units, increasing. A value up to one
  // histogram bucket (0.8 %) above a bound may be counted below it. More bounds: longer text, no
  // other cost. Default: 1, 2, 5 steps from 10 us to 10 s.
  std::vector<uint64_t> bounds = DefaultBounds();

  static std::vector<uint64_t> DefaultBounds();
};

class HistogramMetric {
 public:
  explicit HistogramMetric(const HistogramMetricOptions& options);

  void Record(uint64_t value) { histogram_.Record(value); }
  // Records nanoseconds; a negative duration counts as 0.
  void Record(Duration duration) {
    Record(static_cast<uint64_t>(std::max<int64_t>(duration.count(), 0)));
  }
  Histogram Snapshot() const { return histogram_.Snapshot(); }
  const HistogramMetricOptions& options() const { return options_; }

 private:
  const HistogramMetricOptions options_;
  AtomicHistogram histogram_;
};

class MetricsRegistry;

// Removes a callback gauge or counter on destruction, so that its callback never outlives what it
// reads. The registry must outlive it.
class CallbackGauge {
 public:
  CallbackGauge() = default;
  CallbackGauge(CallbackGauge&& other) noexcept { *this = std::move(other); }
  CallbackGauge& operator=(CallbackGauge&& other) noexcept;
  ~CallbackGauge() { Remove(); }
  // Once this returns, the callback is not running and will not run again.
  void Remove();

 private:
  friend class MetricsRegistry;
  CallbackGauge(MetricsRegistry* registry, std::string family, std::string labels)
      : registry_(registry), family_(std::move(family)), labels_(std::move(labels)) {}

  MetricsRegistry* registry_ = nullptr;
  std::string family_;
  std::string labels_;
};

class MetricsRegistry {
 public:
  MetricsRegistry();
  ~MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  // Each function adds a series, and its family if that is new. The name of a counter ends in
  // _total.
  StatusOr<Counter*> AddCounter(std::string_view name, std::string_view help,
                                const MetricLabels& labels = {});
  StatusOr<Gauge*> AddGauge(std::string_view name, std::string_view help,
                            const MetricLabels& labels = {});
  StatusOr<CallbackGauge> AddCallbackGauge(std::string_view name, std::string_view help,
                                           const MetricLabels& labels,
                                           std::function<double()> callback);
  // Adds a counter whose value is kept by its owner and read by `callback`; it must only increase.
  StatusOr<CallbackGauge> AddCallbackCounter(std::string_view name, std::string_view help,
                                             const MetricLabels& labels,
                                             std::function<double()> callback);
  StatusOr<HistogramMetric*> AddHistogram(std::string_view name, std::string_view help,
                                          const MetricLabels& labels = {},
                                          const HistogramMetricOptions& options = {});

  // Returns all metrics in the Prometheus text format 0.0.4: families ordered by name, series by
  // labels.
  std::string Text() const;

  // Returns the value of a counter, gauge or callback gauge, or the count of a histogram. For tests
  // and status pages. Errors: NOT_FOUND.
  StatusOr<double> Value(std::string_view name, const MetricLabels& labels = {}) const;

 private:
  friend class CallbackGauge;
  using Callback = std::function<double()>;
  using Series = std::variant<std::unique_ptr<Counter>, std::unique_ptr<Gauge>, Callback,
                              std::unique_ptr<HistogramMetric>>;
  struct Family;
  struct Definition;

  StatusOr<CallbackGauge> AddCallback(const Definition& definition, Callback callback);
  // Adds `series` to its family and returns the text of its labels.
  StatusOr<std::string> Add(const Definition& definition, Series series);
  Status CheckAgainstOthers(const Definition& definition, const std::string& label_text) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Status CheckNewFamily(const Definition& definition) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remove(const std::string& family, const std::string& labels);
  // A counter whose cell lies beside those that were made before.
  std::unique_ptr<Counter> MakeCounter();

  mutable LeafMutex mutex_;
  std::map<std::string, Family, std::less<>> families_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<ThreadCells> cells_
      ABSL_GUARDED_BY(mutex_);                     // of the latest counters; may be null
  size_t cell_count_ ABSL_GUARDED_BY(mutex_) = 0;  // those of cells_ that are in use
};

}  // namespace neptune
