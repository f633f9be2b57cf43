#include "index/tier/statistics/renewal_policy.h"

#include <algorithm>

#include "index/updates/document_change.h"

namespace search::index {
namespace {

constexpr int kFailuresMax = 16;

}  // namespace

bool RenewalPolicy::PeriodIsOver(uint64_t version, neptune::TimePoint now,
                                 neptune::WallTime wall_now) const {
  if (version == 0) return now >= begin_ + options_.period;
  constexpr uint64_t kNumberMask = (uint64_t{1} << kVersionNumberBits) - 1;
  return VersionAt(wall_now) >= (version & ~kNumberMask) + VersionSpan(options_.period);
}

bool RenewalPolicy::IsDue(const std::vector<PartitionStatistics>& partitions,
                          neptune::TimePoint now, neptune::WallTime wall_now) const {
  if (partitions.empty() || now < not_before_) return false;
  const PartitionStatistics& first = partitions[0];
  uint64_t change_count = 0;
  uint64_t document_count = 0;
  for (const PartitionStatistics& partition : partitions) {
    // While an index is being published, partitions have different bases and cannot be summed up.
    if (partition.index_version != first.index_version) return false;
    change_count += partition.change_count;
    document_count += partition.document_count;
  }
  const bool differ = std::any_of(partitions.begin(), partitions.end(), [&](const auto& partition) {
    return partition.version != first.version;
  });
  if (differ) return now >= differ_not_before_;
  if (change_count <= first.counted_changes) return false;
  const auto changed = static_cast<double>(change_count - first.counted_changes);
  return changed >= options_.changed_share * static_cast<double>(document_count) ||
         PeriodIsOver(first.version, now, wall_now);
}

void RenewalPolicy::NoteAttempt(bool is_done, neptune::TimePoint now) {
  failure_count_ = is_done ? 0 : std::min(failure_count_ + 1, kFailuresMax);
  const neptune::Duration pause = kRenewalPause * (int64_t{1} << failure_count_);
  if (is_done) differ_not_before_ = now + options_.period;
  not_before_ = now + std::min(pause, std::max(options_.period, kRenewalPause));
}

uint64_t NextStatisticsVersion(const std::vector<PartitionStatistics>& partitions,
                               neptune::WallTime wall_now, uint64_t number) {
  uint64_t version = VersionAt(wall_now);
  for (const PartitionStatistics& partition : partitions) {
    version = std::max(version, partition.version + (uint64_t{1} << kVersionNumberBits));
  }
  constexpr uint64_t kNumberMask = (uint64_t{1} << kVersionNumberBits) - 1;
  return (version & ~kNumberMask) | (number & kNumberMask);
}

}  // namespace search::index
