// Mutexes for user-level and kernel threads, in the memory of pthread_mutex_t.
//
//   __lock    0 free, 1 locked, 2 locked and possibly with waiters
//   __owner   number of the owning thread (recursive and error-checking mutexes)
//   __count   number of times the owner has locked it, minus one
//   __kind    as set by libc's initialisers and pthread_mutex_init
//
// A waiter that is woken but finds the mutex locked again queues at the front and is handed the
// mutex next time. Without the hand-off, a thread that always waits while it holds the mutex would
// starve the others of its kernel thread, since these take turns.
//
// Source: [Chu05] V.A; POSIX.
// Departs from source: a robust, process-shared or priority-protected mutex stays libc's, and
//   waiting for one blocks the kernel thread. Priority inheritance is ignored.
// Threads: thread-safe.
// Errors: errno values, as in POSIX.

#pragma once

#include <pthread.h>

#include "neptune/base/time.h"

namespace neptune::interpose {

int LockMutex(pthread_mutex_t* mutex, TimePoint deadline = kNever);  // ETIMEDOUT
int UnlockMutex(pthread_mutex_t* mutex);
// True if the calling thread may unlock it, as far as the mutex records its owner.
bool MayUnlockMutex(const pthread_mutex_t* mutex);

}  // namespace neptune::interpose
