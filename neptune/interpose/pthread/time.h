// POSIX's points in time as deadlines of the runtime.
//
// Source: POSIX (timespec, clockid_t).
// Departs from source: a point on the wall clock is turned into one of the monotonic clock when the wait begins; what
//   is done to the wall clock afterwards neither lengthens nor shortens the wait.
// Threads: no state.

#pragma once

#include <time.h>

#include "neptune/base/time.h"

namespace neptune::interpose {

// Puts the deadline into `deadline`; EINVAL if the clock is neither the wall clock nor the monotonic one, or the
// nanoseconds are no fraction of a second; else 0.
int DeadlineOf(clockid_t clock, const timespec& when, TimePoint* deadline);

}  // namespace neptune::interpose
