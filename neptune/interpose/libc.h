// The C library's own versions of the interposed functions.
//
// Source: [Chu05] V.C (system calls are caught where they go through the C library).
// Departs from source: the C library is not modified; the program's symbols take precedence over
//   it.
// Threads: thread-safe; resolved at the first use, also before main and in constructors of
//   libraries.
// Errors: ends the process if the C library lacks a function.

#pragma once

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

namespace neptune::interpose {

// clang-format off
#define NEPTUNE_LIBC_CALLS(X) \
  X(read) X(readv) X(recv) X(recvfrom) X(recvmsg) X(recvmmsg) \
  X(write) X(writev) X(send) X(sendto) X(sendmsg) X(sendmmsg) X(sendfile) X(splice) \
  X(connect) X(accept4) \
  X(poll) X(ppoll) X(select) X(pselect) X(epoll_wait) X(epoll_pwait) \
  X(sleep) X(usleep) X(nanosleep) X(clock_nanosleep) \
  X(socket) X(socketpair) X(pipe2) X(eventfd) X(timerfd_create) X(epoll_create1) \
  X(dup) X(dup2) X(dup3) X(close) X(close_range) X(fcntl) X(ioctl) X(setsockopt) \
  X(fdopen) X(fopen64) X(fileno) \
  X(getaddrinfo) X(getnameinfo) X(gethostbyname) X(gethostbyname2) X(gethostbyaddr) \
  X(gethostbyname_r) X(gethostbyname2_r) X(gethostbyaddr_r) \
  X(openat) X(pread64) X(pwrite64) X(fsync) X(fdatasync) \
  X(pthread_key_create) X(pthread_key_delete) X(pthread_getspecific) X(pthread_setspecific)
// clang-format on

struct Libc {
#define NEPTUNE_LIBC_MEMBER(name) decltype(&::name) name;
  NEPTUNE_LIBC_CALLS(NEPTUNE_LIBC_MEMBER)
#undef NEPTUNE_LIBC_MEMBER
};

const Libc& RealLibc();

}  // namespace neptune::interpose
