#include "index/tier/live/merge_record.h"

namespace search::index {

neptune::StatusOr<std::unique_ptr<MergeRecord>> MergeRecord::Make(
    neptune::MetricsRegistry& metrics, const neptune::MetricLabels& labels) {
  std::unique_ptr<MergeRecord> record(new MergeRecord());
  NEPTUNE_ASSIGN_OR_RETURN(record->begun_, metrics.AddCounter("search_live_merges_begun_total",
                                                              "Segment merges begun.", labels));
  NEPTUNE_ASSIGN_OR_RETURN(record->seconds_,
                           metrics.AddHistogram("search_live_merge_seconds",
                                                "Duration of a finished segment merge.", labels));
  return record;
}

void MergeRecord::Note(neptune::TimePoint begin, const neptune::StatusOr<MergeProgress>& progress,
                       neptune::TimePoint end) {
  neptune::LeafLock lock(&mutex_);
  if (!progress.ok() || *progress == MergeProgress::kNothingToDo) {
    under_way_since_.reset();
    return;
  }
  if (!under_way_since_) {
    under_way_since_ = begin;
    begun_->Increment();
  }
  if (*progress != MergeProgress::kMerged) return;
  recent_.push_back({*under_way_since_, end});
  if (recent_.size() > kRecentMergeCountMax) recent_.pop_front();
  seconds_->Record(end - *under_way_since_);
  under_way_since_.reset();
}

std::vector<MergeTime> MergeRecord::recent() const {
  neptune::LeafLock lock(&mutex_);
  return {recent_.begin(), recent_.end()};
}

}  // namespace search::index
