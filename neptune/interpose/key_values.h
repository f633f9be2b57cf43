// Values of pthread keys (thread-specific data) for each user-level thread.
//
// Other threads keep the C library's values. So do, even on user-level threads, the keys of
// libraries that use a key only to learn of a kernel thread's end: their data are in a `__thread`
// object of the kernel thread and would be freed too early.
//
// Source: [Chu05] V.A (thread specific data).
// Threads: thread-safe; values belong to the calling thread. Destructors run on their thread after
//   its body has returned, at most PTHREAD_DESTRUCTOR_ITERATIONS times.
// Errors: as pthread_key_create(3).
// Limits: PTHREAD_KEYS_MAX keys, as in the C library.

#pragma once

#include <pthread.h>

namespace neptune::interpose {

using KeyDestructor = void (*)(void*);

// `caller`: an address in the library that creates the key.
int CreateKey(pthread_key_t* key, KeyDestructor destructor, const void* caller);
int DeleteKey(pthread_key_t key);
void* GetKeyValue(pthread_key_t key);
__attribute__((__access__(__none__, 2))) int SetKeyValue(pthread_key_t key, const void* value);

// Called in a forked child, which continues with plain threads: moves the values of the calling
// user-level thread to the C library.
void KeepKeyValuesAfterFork();

}  // namespace neptune::interpose
