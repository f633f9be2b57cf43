// Records the merges of one partition: counts them, measures their duration, and keeps the most
// recent ones with their times.
//
// Threads: thread-safe.
// Units: times are TimePoint of the maintenance loop.
// Errors: of Make: those of MetricsRegistry.
// Limits: the last kRecentMergeCountMax merges are kept.

#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "index/core/partition/partition.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::index {

// Larger: a longer history on a status page that is rarely viewed.
inline constexpr size_t kRecentMergeCountMax = 200;

struct MergeTime {
  neptune::TimePoint begin;
  neptune::TimePoint end;
};

class MergeRecord {
 public:
  static neptune::StatusOr<std::unique_ptr<MergeRecord>> Make(neptune::MetricsRegistry& metrics,
                                                              const neptune::MetricLabels& labels);

  // Records the result of a piece of work that began at `begin`.
  void Note(neptune::TimePoint begin, const neptune::StatusOr<MergeProgress>& progress,
            neptune::TimePoint end);

  // Successful merges, the oldest first.
  std::vector<MergeTime> recent() const;

 private:
  MergeRecord() = default;

  neptune::Counter* begun_ = nullptr;
  neptune::HistogramMetric* seconds_ = nullptr;
  mutable neptune::LeafMutex mutex_;
  std::optional<neptune::TimePoint> under_way_since_ ABSL_GUARDED_BY(mutex_);
  std::deque<MergeTime> recent_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace search::index
