// Signals and user-level threads.
//
// The kernel delivers signals to kernel threads. Those that run user-level threads block all
// signals, so that no handler interrupts the runtime. Therefore a signal
//
//   to the process           is handled on the main thread, or on another thread made by libc
//   to a user-level thread   is handled by that thread: at once if it sends it to itself, else at
//                            its next wait, which ends with EINTR unless the call restarts
//   raised by the processor, e.g. SIGSEGV, is handled where it arises
//
// Source: POSIX.
// Departs from source: a computing thread handles a signal at its next wait; real-time signals do
//   not queue, and pthread_sigqueue sends to the process.
// Threads: the functions act on the calling thread.

#pragma once

#include <signal.h>

namespace neptune::interpose {

// Must be called before the first thread is created.
void StartSignals();
// The mask of the calling thread, inherited by threads that it creates.
sigset_t CurrentSignalMask();
// Consumes a signal of the set that is pending for the calling user-level thread; 0: none.
int ConsumePendingSignal(const sigset_t& set);
// Unblocks the signals that the processor raises, on a kernel thread that blocks all.
void LetRaisedSignalsThrough();

}  // namespace neptune::interpose
