// Mutexes of both kinds of threads, in the memory of pthread_mutex_t.
//
//   __lock    0 free, 1 locked, 2 locked and perhaps waited for
//   __owner   number of the thread that holds it, of recursive and error-checking ones
//   __count   how often the owner has locked it, less one
//   __kind    as libc's initialisers and pthread_mutex_init leave it
//
// A waiter that was woken and found the mutex taken again stands in front, and is handed the mutex next time: threads
// of one kernel thread take turns, so that a thread that always waits while it holds the mutex would shut out the
// others for good.
//
// Source: [Chu05] V.A; POSIX.
// Departs from source: a robust, process-shared or priority-protected mutex stays libc's, and waiting for one blocks
//   the kernel thread. Priority inheritance is ignored.
// Threads: thread-safe.
// Errors: numbers of errno, as POSIX says.

#pragma once

#include <pthread.h>

#include "neptune/base/time.h"

namespace neptune::interpose {

int LockMutex(pthread_mutex_t* mutex, TimePoint deadline = kNever);  // ETIMEDOUT
int UnlockMutex(pthread_mutex_t* mutex);
// Whether the calling thread may unlock it, as far as the mutex knows.
bool MayUnlockMutex(const pthread_mutex_t* mutex);

}  // namespace neptune::interpose
