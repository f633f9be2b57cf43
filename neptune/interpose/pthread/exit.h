// How a user-level thread ends before its routine returns: its frames are left one after the other, and what they have
// asked for is done - destructors of C++, handlers of pthread_cleanup_push.
//
//   RunUntilExit ─► routine ─► ... ─► UnwindToExit(result)
//        ▲                                 │ forced unwinding; cleanup handlers of C by their jump buffers
//        └─────────────────────────────────┘
//
// Source: POSIX; the unwinding of the C++ ABI, as libc's pthread_exit uses it.
// Threads: each for the calling one.

#pragma once

namespace neptune::interpose {

// What `routine` returns, or is ended with.
void* RunUntilExit(void* (*routine)(void*), void* argument);
// REQUIRES: below RunUntilExit on the stack of this thread.
[[noreturn]] void UnwindToExit(void* result);

}  // namespace neptune::interpose
