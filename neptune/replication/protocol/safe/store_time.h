// The time that a member's disk takes to store a change. Timeouts grow by it, because on a slow
// disk an election takes several stores and the members of a primary answer late.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include <algorithm>

#include "neptune/base/time.h"

namespace neptune {

class StoreTime {
 public:
  // A longer time counts at once; shorter ones reduce it gradually.
  void Note(Duration took, TimePoint now) {
    took = std::min(took, kTimeMax);
    const Duration before = typical(now);
    typical_ = took > before ? took : before - (before - took) / kWeight;
    noted_at_ = now;
  }
  // Halved for each kHalfLife in which nothing was stored, so that one hiccup is forgotten.
  Duration typical(TimePoint now) const {
    const auto halvings = (now - noted_at_) / kHalfLife;
    return halvings >= kHalvingsMax ? Duration{0} : typical_ / (int64_t{1} << halvings);
  }

 private:
  static constexpr Duration kTimeMax = std::chrono::seconds(1);
  static constexpr Duration kHalfLife = std::chrono::seconds(2);
  static constexpr int64_t kHalvingsMax = 30;
  static constexpr int kWeight = 8;

  Duration typical_{0};
  TimePoint noted_at_{};
};

}  // namespace neptune
