// Names of the libc functions that the preload library interposes.
//
//   program ──► libneptune_preload.so: NAME
//                 ──► libneptune_preload_core.so: neptune_symbol_NAME, else neptune_NAME
//
// A new call needs its name here and a definition of `neptune_NAME` with NAME's type and C linkage
// in a library that the core links (marked NEPTUNE_PRELOAD_CALL); calls of ../symbols.cc have the
// longer names. Code of the core that calls NAME itself gets libc's function, because the core is
// loaded so that it binds to libc and not to the program's names.
//
// Source: [Chu05] V.C (wrappers around libc's functions). Read by the assembler too.
// Threads: no state.

#pragma once

#ifndef __ASSEMBLER__
// Exported by the core, for the preload library only.
#define NEPTUNE_PRELOAD_CALL extern "C" __attribute__((visibility("default")))
#endif

// clang-format off
#define NEPTUNE_PRELOAD_PTHREAD_CALLS(X) \
  X(pthread_create) X(pthread_join) X(pthread_tryjoin_np) X(pthread_timedjoin_np) X(pthread_clockjoin_np) \
  X(pthread_detach) X(pthread_exit) X(__pthread_register_cancel) X(__pthread_unregister_cancel) \
  X(__pthread_unwind_next) X(pthread_self) X(pthread_equal) X(pthread_kill) X(pthread_sigqueue) \
  X(pthread_cancel) X(pthread_setcancelstate) X(pthread_setcanceltype) X(pthread_testcancel) \
  X(pthread_getattr_np) X(pthread_getname_np) X(pthread_setname_np) X(pthread_getcpuclockid) \
  X(pthread_getschedparam) X(pthread_setschedparam) X(pthread_setschedprio) X(pthread_getaffinity_np) \
  X(pthread_setaffinity_np) X(pthread_sigmask) X(sigprocmask) X(raise) X(pthread_mutex_destroy) \
  X(pthread_mutex_lock) X(pthread_mutex_trylock) X(pthread_mutex_timedlock) X(pthread_mutex_clocklock) \
  X(pthread_mutex_unlock) X(pthread_cond_wait) X(pthread_cond_timedwait) X(pthread_cond_clockwait) \
  X(pthread_cond_signal) X(pthread_cond_broadcast) X(pthread_rwlock_rdlock) X(pthread_rwlock_tryrdlock) \
  X(pthread_rwlock_timedrdlock) X(pthread_rwlock_clockrdlock) X(pthread_rwlock_wrlock) \
  X(pthread_rwlock_trywrlock) X(pthread_rwlock_timedwrlock) X(pthread_rwlock_clockwrlock) \
  X(pthread_rwlock_unlock) X(pthread_barrier_wait) X(sem_wait) X(sem_trywait) X(sem_timedwait) \
  X(sem_clockwait) X(sem_post) X(pthread_key_create) X(pthread_key_delete) X(pthread_getspecific) \
  X(pthread_setspecific) X(pthread_once) X(__cxa_guard_acquire) X(__cxa_guard_release) X(__cxa_guard_abort) \
  X(pthread_yield) X(sched_yield) X(wait) X(waitpid) X(wait3) X(wait4) X(waitid) \
  X(sigwait) X(sigwaitinfo) X(sigtimedwait) X(fork)

// Calls defined in ../symbols.cc.
#define NEPTUNE_PRELOAD_BLOCKING_CALLS(X) \
  X(read) X(__read_chk) X(readv) X(recv) X(__recv_chk) X(recvfrom) X(__recvfrom_chk) X(recvmsg) \
  X(recvmmsg) X(write) X(writev) X(send) X(sendto) X(sendmsg) X(sendmmsg) X(sendfile) X(sendfile64) \
  X(splice) X(connect) X(accept) X(accept4) X(poll) X(__poll_chk) X(ppoll) X(__ppoll_chk) X(select) \
  X(pselect) X(epoll_wait) X(epoll_pwait) X(sleep) X(usleep) X(nanosleep) X(clock_nanosleep) X(socket) \
  X(socketpair) X(pipe) X(pipe2) X(eventfd) X(timerfd_create) X(epoll_create) X(epoll_create1) X(dup) \
  X(dup2) X(dup3) X(close) X(close_range) X(closefrom) X(setsockopt) X(fcntl) X(fcntl64) X(ioctl) \
  X(getaddrinfo) X(getnameinfo) X(gethostbyname) X(gethostbyname2) X(gethostbyaddr) X(gethostbyname_r) \
  X(gethostbyname2_r) X(gethostbyaddr_r) X(open) X(open64) X(openat) X(openat64) X(creat) X(creat64) \
  X(__open_2) X(__open64_2) X(__openat_2) X(__openat64_2) X(pread) X(pread64) X(__pread_chk) \
  X(__pread64_chk) X(pwrite) X(pwrite64) X(fsync) X(fdatasync) X(fopen) X(fopen64) X(fdopen) X(fileno) \
  X(fileno_unlocked)

#define NEPTUNE_PRELOAD_CALLS(X) NEPTUNE_PRELOAD_PTHREAD_CALLS(X) NEPTUNE_PRELOAD_BLOCKING_CALLS(X)
// clang-format on
