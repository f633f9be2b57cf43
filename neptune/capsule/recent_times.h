// A ring of the most recent durations, for quantiles.
//
// Threads: thread-compatible.
// Limits: kRecentTimesCount durations; older ones are overwritten.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "neptune/base/time.h"

namespace neptune {

inline constexpr size_t kRecentTimesCount = 256;

class RecentTimes {
 public:
  void Add(Duration time) { times_ns_[count_++ % kRecentTimesCount] = time.count(); }
  // Number of durations held.
  size_t size() const { return std::min<uint64_t>(count_, kRecentTimesCount); }
  // The smallest duration that `share` of the recent ones do not exceed; zero if there are none.
  // O(kRecentTimesCount).
  Duration Quantile(double share) const {
    if (count_ == 0) return Duration(0);
    std::array<int64_t, kRecentTimesCount> times = times_ns_;
    const auto rank =
        std::min(size() - 1, static_cast<size_t>(share * static_cast<double>(size())));
    std::nth_element(times.begin(), times.begin() + rank, times.begin() + size());
    return Duration(times[rank]);
  }

 private:
  std::array<int64_t, kRecentTimesCount> times_ns_{};
  uint64_t count_ = 0;
};

}  // namespace neptune
