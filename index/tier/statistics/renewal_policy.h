// Decides when the statistics of the whole collection must be renewed.
//
//   partitions use different versions         due: a renewal failed, or a base index differs
//   changes since >= changed_share of all     due
//   any change since, and period has elapsed  due
//
// After an attempt nothing is due for kRenewalPause; after n consecutive failures for 2^n times
// that, up to the period. If partitions use different versions although an attempt succeeded, a
// replica lags, and the policy waits up to the period for it.
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
  // invalidate caches. Default: 2 %, which moves the weight of a word that changes everywhere by
  // hundredths.
  double changed_share = 0.02;
  // Upper bound of the time for which a document with a word new to its partition is overrated.
  // Default: 10 minutes.
  neptune::Duration period = std::chrono::minutes(10);
};

inline constexpr neptune::Duration kRenewalPause = std::chrono::seconds(5);

// The state that a partition reports.
struct PartitionStatistics {
  uint64_t index_version = 0;
  uint64_t version = 0;  // 0: the published statistics
  // See StatisticsState.
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
  neptune::TimePoint differ_not_before_;  // the same if partitions use different versions
  int failure_count_ = 0;
};

// The version for the statistics that are counted now: larger than any in use. `number`
// distinguishes versions that two nodes count at the same time.
uint64_t NextStatisticsVersion(const std::vector<PartitionStatistics>& partitions,
                               neptune::WallTime wall_now, uint64_t number);

}  // namespace search::index
