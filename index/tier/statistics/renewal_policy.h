// Decides when the statistics of the whole collection are due for renewal.
//
//   partitions use different statistics      at once: a renewal was cut off, or a partition has
//                                            another base index
//   changes since >= changed_share of all    at once
//   any change since, and period is over     then
//
// After an attempt nothing is due for kRenewalPause; after n failed attempts in a row, for 2^n
// times that, up to the period. If partitions use different statistics although an attempt
// succeeded, a replica lags, and the policy waits for it up to the period.
//
// No I/O, no clock.
// Threads: thread-compatible.
// Units: versions are those of index/updates/document_change.h.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "neptune/base/time.h"

namespace search::index {

struct RenewalOptions {
  // Smaller: scores follow the changes sooner. Larger: less work, and fewer renewals that
  // invalidate caches. Default: a fiftieth, which moves the weight of a word that changes
  // everywhere by hundredths.
  double changed_share = 0.02;
  // Maximal time for which a document with a word unknown to its partition is overrated. Default:
  // 10 minutes.
  neptune::Duration period = std::chrono::minutes(10);
};

inline constexpr neptune::Duration kRenewalPause = std::chrono::seconds(5);

// State that a partition reports.
struct PartitionStatistics {
  uint64_t index_version = 0;
  uint64_t version = 0;  // 0: those that were published
  // Same as StatisticsState.counted_changes.
  uint64_t counted_changes = 0;
  uint64_t change_count = 0;
  uint64_t document_count = 0;
};

class RenewalPolicy {
 public:
  RenewalPolicy(const RenewalOptions& options, neptune::TimePoint now)
      : options_(options), begin_(now), not_before_(now + kRenewalPause) {}

  // `partitions` are all those of both tiers.
  bool IsDue(const std::vector<PartitionStatistics>& partitions, neptune::TimePoint now,
             neptune::WallTime wall_now) const;
  // Call it at the end of an attempt.
  void NoteAttempt(bool is_done, neptune::TimePoint now);

 private:
  bool PeriodIsOver(uint64_t version, neptune::TimePoint now, neptune::WallTime wall_now) const;

  const RenewalOptions options_;
  const neptune::TimePoint begin_;
  neptune::TimePoint not_before_;
  // The same time for partitions with different statistics.
  neptune::TimePoint differ_not_before_;
  int failure_count_ = 0;
};

// Version of the statistics being counted: larger than any in use. `number` distinguishes the
// versions of two nodes that count at the same time.
uint64_t NextStatisticsVersion(const std::vector<PartitionStatistics>& partitions,
                               neptune::WallTime wall_now, uint64_t number);

}  // namespace search::index
