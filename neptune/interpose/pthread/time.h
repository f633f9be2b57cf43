// Converts POSIX times to deadlines of the runtime.
//
// Source: POSIX (timespec, clockid_t).
// Departs from source: a wall-clock time is converted to the monotonic clock when the wait begins,
//   so later changes of the wall clock do not affect the wait.
// Threads: no state.

#pragma once

#include <time.h>

#include "neptune/base/time.h"

namespace neptune::interpose {

// Sets `deadline` and returns 0; EINVAL if the clock is neither the wall clock nor the monotonic
// one, or the nanoseconds are not a fraction of a second.
int DeadlineOf(clockid_t clock, const timespec& when, TimePoint* deadline);

}  // namespace neptune::interpose
