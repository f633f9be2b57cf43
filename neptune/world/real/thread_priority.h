// Scheduling priority of a loop's kernel thread; internal to world/real.
//
// A woken serving loop should run at once, even while a background loop uses the processor. Nice
// values achieve that only for a loop that has used little processor time recently; otherwise the
// system lets the running thread finish its slice of several milliseconds. Serving loops therefore
// request the shortest slice; on wake-up they then preempt threads with longer slices (Linux 6.12;
// no effect on older kernels). Measured with one loop that works half of the time and one that
// always works: p99 of the first loop's delay is 1.5 ms without and 0.4 ms with this setting.
//
// Threads: each thread for itself.

#pragma once

#include "neptune/world/world.h"

namespace neptune {

// Sets the priority of the calling thread. If the program was started under a real-time policy, a
// background loop runs one priority below the others if there is one. Otherwise a background loop
// is ten nicer than a serving loop, and a control loop five less nice if the system permits it.
// Other settings refused by the system are logged.
void SetThreadPriority(LoopPriority priority);

}  // namespace neptune
