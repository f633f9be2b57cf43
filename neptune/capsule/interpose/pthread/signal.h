// Signals and user-level threads.
//
// The kernel delivers a signal to a kernel thread, and those that run user-level threads block all of them, so that no
// handler runs in the middle of the runtime: handlers run on the main thread. What a user-level thread sends to itself
// is handled at once by itself. Signals that the processor raises, as SIGSEGV, are delivered where they arise.
//
// Source: POSIX.
// Departs from source: a signal that is sent to another user-level thread goes to the process and ends no wait of that
//   thread; a user-level thread's mask is kept and told, and applies to what it sends to itself.
// Layer: capsule.
// Threads: each for the calling one.

#pragma once

#include <signal.h>

namespace neptune::interpose {

// The mask of the calling thread, which the threads that it starts begin with.
sigset_t CurrentSignalMask();
// On a kernel thread that blocks all signals: lets those through that the processor raises.
void LetRaisedSignalsThrough();

}  // namespace neptune::interpose
