// Notices a method that is registered as short although it takes long.
//
// On the loop that reads requests such a method delays all others of the loop: one answer of 60 MiB
// takes some 50 ms. From the second long run on its requests are served by the pool, as those of
// long methods are, until most of them are short again.
//
// In the simulated world code takes no time unless it consumes some, which parks, so it has no
// effect there on methods that run in place.
//
// Threads: thread-safe. A short run of a method that is known to be short writes nothing.

#pragma once

#include <algorithm>
#include <atomic>

#include "neptune/base/time.h"

namespace neptune {

class GrainWatch {
 public:
  // The longest run of a short method.
  static constexpr Duration kShortMax = std::chrono::milliseconds(5);

  // A run of the method took this time without parking.
  void OnRun(Duration ran) {
    const int before = score_.load(std::memory_order_relaxed);
    const int after = ran > kShortMax ? std::min(before + kLongStep, kScoreMax) : before - 1;
    // Runs that end at the same time may count as one.
    if (before != 0 || after > 0) score_.store(std::max(after, 0), std::memory_order_relaxed);
  }
  // True if requests are to be served as those of a long method.
  bool is_long() const { return score_.load(std::memory_order_relaxed) >= kLongScore; }

 private:
  // A thread may be interrupted during a short run, so one long run decides nothing.
  static constexpr int kLongStep = 4;
  static constexpr int kLongScore = 6;
  static constexpr int kScoreMax = 16;

  std::atomic<int> score_{0};
};

}  // namespace neptune
