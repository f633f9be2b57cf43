// When the statistics of the whole collection are to be renewed.
//
//   partitions use different ones            at once: a renewal was broken off, or one stands over another index
//   changes since >= changed_share of all    at once
//   any change since, and period is over     then
//
// After an attempt nothing is due for kRenewalPause, after n that failed in a row 2^n times that, up to the period. Where
// partitions use different ones although an attempt was done, a replica lags, and that is waited for as long as the period.
//
// No I/O, no clock.
// Threads: thread-compatible.
// Units: versions as index/updates/document_change.h.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "neptune/base/time.h"

namespace search::index {

struct RenewalOptions {
  // Smaller: scores follow the changes sooner; larger: less work, fewer caches that a renewal makes old. Default: a fiftieth,
  // which moves the weight of a word that changes everywhere by hundredths.
  double changed_share = 0.02;
  // A document with a word that its partition did not know is overrated for so long at most. Default: 10 minutes.
  neptune::Duration period = std::chrono::minutes(10);
};

inline constexpr neptune::Duration kRenewalPause = std::chrono::seconds(5);

// What a partition says of itself.
struct PartitionStatistics {
  uint64_t index_version = 0;
  uint64_t version = 0;  // 0: those that were published
  // As StatisticsState.
  uint64_t counted_changes = 0;
  uint64_t change_count = 0;
  uint64_t document_count = 0;
};

class RenewalPolicy {
 public:
  RenewalPolicy(const RenewalOptions& options, neptune::TimePoint now)
      : options_(options), begin_(now), not_before_(now + kRenewalPause) {}

  // `partitions` are all of both tiers.
  bool IsDue(const std::vector<PartitionStatistics>& partitions, neptune::TimePoint now,
             neptune::WallTime wall_now) const;
  // An attempt has ended.
  void NoteAttempt(bool is_done, neptune::TimePoint now);

 private:
  bool PeriodIsOver(uint64_t version, neptune::TimePoint now, neptune::WallTime wall_now) const;

  const RenewalOptions options_;
  const neptune::TimePoint begin_;
  neptune::TimePoint not_before_;
  neptune::TimePoint differ_not_before_;  // the same for partitions that use different ones
  int failure_count_ = 0;
};

// The version of statistics that are counted now: larger than any in use. `number` tells apart what two nodes count at
// one time.
uint64_t NextStatisticsVersion(const std::vector<PartitionStatistics>& partitions,
                               neptune::WallTime wall_now, uint64_t number);

}  // namespace search::index
