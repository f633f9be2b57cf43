// When a replica that failed is opened again: at once if that helps, and ever more rarely if not.
//
// The delay doubles with each failure, from kReopenDelayMin to kReopenDelayMax, and is drawn from
// its upper half, so that the replicas that a full disk has stopped do not return together. A
// replica that worked for kReopenHealthyMin begins with the shortest delay again.
//
// No I/O, no clock; random numbers are passed in.
// Threads: thread-compatible.
// Units: times are TimePoint.

#pragma once

#include <algorithm>

#include "neptune/base/time.h"
#include "neptune/world/random_source.h"

namespace neptune {

inline constexpr Duration kReopenDelayMin = std::chrono::milliseconds(100);
inline constexpr Duration kReopenDelayMax = std::chrono::seconds(30);
// Longer than it takes until a disk that is still full is written again.
inline constexpr Duration kReopenHealthyMin = std::chrono::seconds(60);

class ReopenBackoff {
 public:
  void NoteOpened(TimePoint now) { opened_at_ = now; }
  // The replica has failed, or was not opened. Returns when it is opened next.
  TimePoint NextAfterFailure(RandomSource& random, TimePoint now) {
    const bool was_healthy = opened_at_ != kNever && now - opened_at_ >= kReopenHealthyMin;
    if (was_healthy) failure_count_ = 0;
    opened_at_ = kNever;
    delay_ = failure_count_++ == 0 ? kReopenDelayMin : std::min(2 * delay_, kReopenDelayMax);
    const auto half = static_cast<uint64_t>((delay_ / 2).count());
    return now + delay_ - Duration(static_cast<Duration::rep>(random.Below(half + 1)));
  }
  // Failures since the replica last worked for long.
  int failure_count() const { return failure_count_; }

 private:
  TimePoint opened_at_ = kNever;  // kNever: it is not open
  Duration delay_ = kReopenDelayMin;
  int failure_count_ = 0;
};

}  // namespace neptune
