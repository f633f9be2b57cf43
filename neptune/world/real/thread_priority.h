// What a loop's kernel thread asks of the operating system's scheduler; internal to world/real.
//
// A woken serving loop should run at once, also while a background loop uses the processor. Weight gives that only to
// a loop that used little of it lately: else the system lets the running thread end its turn, milliseconds long. So
// serving loops ask for the shortest turns there are; one that is woken then interrupts a thread of longer turns (Linux
// 6.12; before, without effect). Measured with a loop that works half of the time beside one that always does: p99 of
// its delay 1.5 ms without, 0.4 ms with.
//
// Threads: each for itself.

#pragma once

#include "neptune/world/world.h"

namespace neptune {

// For the calling thread. Under a real-time policy, which the program was started with, a background loop goes one
// priority below the others, as far as there is one. What the system refuses is logged.
void SetThreadPriority(LoopPriority priority);

}  // namespace neptune
