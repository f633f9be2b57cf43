// pthread_exit for user-level threads: unwinds the stack frame by frame, running C++ destructors
// and handlers of pthread_cleanup_push.
//
//   RunUntilExit ─► routine ─► ... ─► UnwindToExit(result)
//        ▲                                 │ forced unwinding; C cleanup handlers by jump buffers
//        └─────────────────────────────────┘
//
// Source: POSIX; the unwinding of the C++ ABI, as libc's pthread_exit uses it.
// Threads: the functions act on the calling thread.

#pragma once

namespace neptune::interpose {

// Returns the result of `routine`, or the one passed to UnwindToExit.
void* RunUntilExit(void* (*routine)(void*), void* argument);
// REQUIRES: called within RunUntilExit on this thread.
[[noreturn]] void UnwindToExit(void* result);

}  // namespace neptune::interpose
