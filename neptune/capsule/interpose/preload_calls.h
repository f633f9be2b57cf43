// The calls of libc that the preload library takes over, by name.
//
//   program ──► libneptune_preload.so: NAME ──► libneptune_preload_core.so: neptune_NAME
//                                          └──► libc's NAME, as long as the core has none
//
// A call is added by writing its name here and defining `neptune_NAME` with NAME's type and C linkage in a library
// that the core links (NEPTUNE_PRELOAD_CALL marks it). Code of the core that calls NAME itself gets libc's: the core is
// loaded so that it sees libc and not the program's names.
//
// Source: dependency capsules V.C (wrappers around libc's functions). Layer: capsule. Read by the assembler too.
// Threads: no state.

#pragma once

#ifndef __ASSEMBLER__
// What the core shows to the preload library, and nothing else does.
#define NEPTUNE_PRELOAD_CALL extern "C" __attribute__((visibility("default")))
#endif

// clang-format off
#define NEPTUNE_PRELOAD_PTHREAD_CALLS(X) \
  X(pthread_create) X(pthread_join) X(pthread_tryjoin_np) X(pthread_timedjoin_np) X(pthread_clockjoin_np) \
  X(pthread_detach) X(pthread_exit) X(pthread_self) X(pthread_equal) X(pthread_kill) X(pthread_sigqueue) \
  X(pthread_cancel) X(pthread_setcancelstate) X(pthread_setcanceltype) X(pthread_testcancel) \
  X(pthread_getattr_np) X(pthread_getname_np) X(pthread_setname_np) X(pthread_getcpuclockid) \
  X(pthread_getschedparam) X(pthread_setschedparam) X(pthread_setschedprio) \
  X(pthread_getaffinity_np) X(pthread_setaffinity_np) X(pthread_sigmask) \
  X(pthread_mutex_init) X(pthread_mutex_destroy) X(pthread_mutex_lock) X(pthread_mutex_trylock) \
  X(pthread_mutex_timedlock) X(pthread_mutex_clocklock) X(pthread_mutex_unlock) \
  X(pthread_cond_init) X(pthread_cond_destroy) X(pthread_cond_wait) X(pthread_cond_timedwait) \
  X(pthread_cond_clockwait) X(pthread_cond_signal) X(pthread_cond_broadcast) \
  X(pthread_rwlock_init) X(pthread_rwlock_destroy) X(pthread_rwlock_rdlock) X(pthread_rwlock_tryrdlock) \
  X(pthread_rwlock_timedrdlock) X(pthread_rwlock_clockrdlock) X(pthread_rwlock_wrlock) \
  X(pthread_rwlock_trywrlock) X(pthread_rwlock_timedwrlock) X(pthread_rwlock_clockwrlock) X(pthread_rwlock_unlock) \
  X(pthread_barrier_init) X(pthread_barrier_destroy) X(pthread_barrier_wait) \
  X(sem_wait) X(sem_trywait) X(sem_timedwait) X(sem_clockwait) X(sem_post) \
  X(pthread_key_create) X(pthread_key_delete) X(pthread_getspecific) X(pthread_setspecific) \
  X(pthread_once) X(pthread_yield) X(sched_yield) X(fork)

// Those that block on descriptors, on time, and on names of hosts.
#define NEPTUNE_PRELOAD_BLOCKING_CALLS(X)

#define NEPTUNE_PRELOAD_CALLS(X) NEPTUNE_PRELOAD_PTHREAD_CALLS(X) NEPTUNE_PRELOAD_BLOCKING_CALLS(X)
// clang-format on
