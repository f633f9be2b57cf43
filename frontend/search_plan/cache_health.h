// Whether a cache partition is worth asking: failures in quick succession keep it from being asked
// for some seconds, then it is tried again.
//
// Source: design 5 (the cache is bypassable). Departs from source: none.
// Layer: frontend/search_plan, policy. No clock.
// Threads: thread-compatible.
// Units: failures; each counts half after kHalfLife.

#pragma once

#include <algorithm>

#include "neptune/base/ewma.h"
#include "neptune/base/time.h"

namespace search::frontend {

class CacheHealth {
 public:
  static constexpr neptune::Duration kHalfLife = std::chrono::seconds(5);
  // The partition is asked while its failures count less. Two in a row do not stop the questions,
  // three do.
  static constexpr double kFailuresTolerated = 2;
  // Failures at once count no more than this, so that many at one time do not mean a long pause:
  // it is at most kHalfLife * log2(kFailuresMax / kFailuresTolerated), 3 s.
  static constexpr double kFailuresMax = 3;

  bool ShouldAsk(neptune::TimePoint now) const { return failures_.Value(now) < kFailuresTolerated; }
  void CountFailure(neptune::TimePoint now) {
    failures_.Add(std::clamp(kFailuresMax - failures_.Value(now), 0.0, 1.0), now);
  }
  void CountSuccess() { failures_ = Fresh(); }

 private:
  static neptune::DecayedCounter Fresh() {
    return neptune::DecayedCounter::WithHalfLife(kHalfLife);
  }

  neptune::DecayedCounter failures_ = Fresh();
};

}  // namespace search::frontend
