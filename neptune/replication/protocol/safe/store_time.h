// The time that a member's disk takes to store something, by which its timeouts grow: on a slow
// disk an election takes several stores, and a primary's members answer late.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include <algorithm>

#include "neptune/base/time.h"

namespace neptune {

class StoreTime {
 public:
  // A longer time counts at once; shorter ones reduce it by and by.
  void Note(Duration took) {
    took = std::min(took, kTimeMax);
    typical_ = took > typical_ ? took : typical_ - (typical_ - took) / kWeight;
  }
  Duration typical() const { return typical_; }

 private:
  static constexpr Duration kTimeMax = std::chrono::seconds(1);
  static constexpr int kWeight = 8;

  Duration typical_{0};
};

}  // namespace neptune
