// Signals and user-level threads.
//
// The kernel delivers a signal to a kernel thread, and those that run user-level threads block all of them, so that no
// handler runs in the middle of the runtime. So:
//
//   to the process          handled on the main thread, or on another one that libc made
//   to a user-level thread  handled by that thread: at once if it sends it to itself, else where it waits, which ends
//                           the wait with EINTR unless the call goes on after signals
//   raised by the processor as SIGSEGV: handled where it arises
//
// Source: POSIX.
// Departs from source: a thread that computes handles a signal when it waits next; real-time signals do not queue, and
//   what pthread_sigqueue sends goes to the process.
// Threads: each for the calling one.

#pragma once

#include <signal.h>

namespace neptune::interpose {

// Before the first thread.
void StartSignals();
// The mask of the calling thread, which the threads that it starts begin with.
sigset_t CurrentSignalMask();
// Takes one of the set that was sent to the calling user-level thread; 0: there is none.
int ConsumePendingSignal(const sigset_t& set);
// On a kernel thread that blocks all signals: lets those through that the processor raises.
void LetRaisedSignalsThrough();

}  // namespace neptune::interpose
