// Values of pthread keys for each user-level thread, as threads of their own would have them.
//
// Other threads keep the C library's values. So do, on user-level threads too, the keys of libraries that only want to
// be told when a kernel thread ends: they keep their data in a `__thread` object beside the key, which is the kernel
// thread's, and would free it too early.
//
// Source: [Chu05] V.A (thread specific data).
// Threads: thread-safe; values belong to the calling thread. Destructors run on their thread when its body has returned,
//   at most PTHREAD_DESTRUCTOR_ITERATIONS times.
// Errors: as pthread_key_create(3).
// Limits: PTHREAD_KEYS_MAX keys, the C library's.

#pragma once

#include <pthread.h>

namespace neptune::interpose {

using KeyDestructor = void (*)(void*);

// `caller`: an address in the library that makes the key.
int CreateKey(pthread_key_t* key, KeyDestructor destructor, const void* caller);
int DeleteKey(pthread_key_t key);
void* GetKeyValue(pthread_key_t key);
__attribute__((__access__(__none__, 2))) int SetKeyValue(pthread_key_t key, const void* value);

// In the child of a fork, which goes on with plain threads: the calling user-level thread's values become those that the
// C library has for it.
void KeepKeyValuesAfterFork();

}  // namespace neptune::interpose
