// The process as its user-level threads see it: whether there are any yet, its forks, its end.
//
// Source: POSIX.
// Threads: thread-safe.

#pragma once

namespace neptune::interpose {

// Whether pthread_create makes user-level threads: not for the runtime's own threads, and not in a child of a fork that
// a process with user-level threads has made: its loops are its parent's.
bool MakesUserThreads();

// Lets others go first, on whichever kind of thread. Returns 0.
int YieldThread();

// The calling kernel thread of the program ends by pthread_exit. If it is the main one, the process ends with its last
// user-level thread.
void NoteKernelThreadExit();
// User-level threads of the program that have begun and not ended.
void NoteThreadBegins();
void NoteThreadEnds();

// Threads that the caller starts while one of these exists are the runtime's own.
class RuntimeThreadsScope {
 public:
  RuntimeThreadsScope();
  ~RuntimeThreadsScope();
  RuntimeThreadsScope(const RuntimeThreadsScope&) = delete;
  RuntimeThreadsScope& operator=(const RuntimeThreadsScope&) = delete;
};

}  // namespace neptune::interpose
