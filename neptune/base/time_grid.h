// Times on a grid: multiples of an interval. Periodic timers of a loop that are on grids wake it
// together, so that an idle node wakes its processors less often.
//
// Threads: pure functions.

#pragma once

#include "neptune/base/time.h"

namespace neptune {

// The first multiple of `interval` after `now`. REQUIRES: interval > 0; now is not negative.
inline TimePoint NextOnGrid(TimePoint now, Duration interval) {
  return AddSaturated(now, interval - now.time_since_epoch() % interval);
}

// The last multiple of `interval` up to `at`. REQUIRES: as above.
inline TimePoint LastOnGrid(TimePoint at, Duration interval) {
  return at - at.time_since_epoch() % interval;
}

}  // namespace neptune
