// Process-wide state of user-level threads: when they are created, forks, end of the process.
//
// Source: POSIX.
// Threads: thread-safe.

#pragma once

namespace neptune::interpose {

// True if pthread_create makes user-level threads: not for the runtime's own threads, and not in a
// child forked by a process with user-level threads, whose loops belong to the parent.
bool MakesUserThreads();

// Yields, on either kind of thread. Returns 0.
int YieldThread();

// Records that the calling kernel thread of the program ends by pthread_exit. If it is the main
// one, the process ends with its last user-level thread.
void NoteKernelThreadExit();
// Count the live user-level threads of the program.
void NoteThreadBegins();
void NoteThreadEnds();

// Scope in which threads that the caller starts are the runtime's own.
class RuntimeThreadsScope {
 public:
  RuntimeThreadsScope();
  ~RuntimeThreadsScope();
  RuntimeThreadsScope(const RuntimeThreadsScope&) = delete;
  RuntimeThreadsScope& operator=(const RuntimeThreadsScope&) = delete;
};

}  // namespace neptune::interpose
