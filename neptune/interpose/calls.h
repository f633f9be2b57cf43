// Implementations of the interposed functions of the C library: `neptune_NAME` replaces NAME.
//
// symbols.cc gives them the C library's names in a program that links it; the preload library does
// so in unmodified programs.
//
// Source: [Chu05] V.C.
// Threads: as the functions of the C library. On a user-level thread of a real loop a call that has
//   to wait parks the thread; on other threads calls behave as without this library.
// Errors: those of the manual pages; README.md lists the errno values of capsules and of a stopping
//   node.

#pragma once

#include <netdb.h>

#include "neptune/interpose/libc.h"

#define NEPTUNE_INTERPOSED extern "C" __attribute__((visibility("default")))

// Reading.
NEPTUNE_INTERPOSED ssize_t neptune_read(int fd, void* data, size_t size);
NEPTUNE_INTERPOSED ssize_t neptune_readv(int fd, const iovec* parts, int count);
NEPTUNE_INTERPOSED ssize_t neptune_recv(int fd, void* data, size_t size, int flags);
NEPTUNE_INTERPOSED ssize_t neptune_recvfrom(int fd, void* data, size_t size, int flags,
                                            sockaddr* from, socklen_t* from_size);
NEPTUNE_INTERPOSED ssize_t neptune_recvmsg(int fd, msghdr* message, int flags);
NEPTUNE_INTERPOSED int neptune_recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags,
                                        timespec* timeout);

// Writing: completes the whole buffer, as on a blocking descriptor.
NEPTUNE_INTERPOSED ssize_t neptune_write(int fd, const void* data, size_t size);
NEPTUNE_INTERPOSED ssize_t neptune_writev(int fd, const iovec* parts, int count);
NEPTUNE_INTERPOSED ssize_t neptune_send(int fd, const void* data, size_t size, int flags);
NEPTUNE_INTERPOSED ssize_t neptune_sendto(int fd, const void* data, size_t size, int flags,
                                          const sockaddr* to, socklen_t to_size);
NEPTUNE_INTERPOSED ssize_t neptune_sendmsg(int fd, const msghdr* message, int flags);
NEPTUNE_INTERPOSED int neptune_sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags);
NEPTUNE_INTERPOSED ssize_t neptune_sendfile(int out, int in, off_t* offset, size_t size);
NEPTUNE_INTERPOSED ssize_t neptune_splice(int in, off64_t* in_offset, int out, off64_t* out_offset,
                                          size_t size, unsigned flags);

// Connections.
NEPTUNE_INTERPOSED int neptune_connect(int fd, const sockaddr* address, socklen_t size);
NEPTUNE_INTERPOSED int neptune_accept(int fd, sockaddr* address, socklen_t* size);
NEPTUNE_INTERPOSED int neptune_accept4(int fd, sockaddr* address, socklen_t* size, int flags);

// Waiting for several descriptors, and for time. Signal masks are ignored, because user-level
// threads get no signals.
NEPTUNE_INTERPOSED int neptune_poll(pollfd* descriptors, nfds_t count, int timeout_ms);
NEPTUNE_INTERPOSED int neptune_ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout,
                                     const sigset_t* mask);
NEPTUNE_INTERPOSED int neptune_select(int count, fd_set* readable, fd_set* writable,
                                      fd_set* exceptional, timeval* timeout);
NEPTUNE_INTERPOSED int neptune_pselect(int count, fd_set* readable, fd_set* writable,
                                       fd_set* exceptional, const timespec* timeout,
                                       const sigset_t* mask);
NEPTUNE_INTERPOSED int neptune_epoll_wait(int epoll, epoll_event* events, int count,
                                          int timeout_ms);
NEPTUNE_INTERPOSED int neptune_epoll_pwait(int epoll, epoll_event* events, int count,
                                           int timeout_ms, const sigset_t* mask);
NEPTUNE_INTERPOSED unsigned neptune_sleep(unsigned seconds);
NEPTUNE_INTERPOSED int neptune_usleep(useconds_t time_us);
NEPTUNE_INTERPOSED int neptune_nanosleep(const timespec* time, timespec* left);
NEPTUNE_INTERPOSED int neptune_clock_nanosleep(clockid_t clock, int flags, const timespec* time,
                                               timespec* left);

// Descriptors: one that a user-level thread opens is tracked until it is closed.
NEPTUNE_INTERPOSED int neptune_socket(int domain, int type, int protocol);
NEPTUNE_INTERPOSED int neptune_socketpair(int domain, int type, int protocol, int* pair);
NEPTUNE_INTERPOSED int neptune_pipe(int* pair);
NEPTUNE_INTERPOSED int neptune_pipe2(int* pair, int flags);
NEPTUNE_INTERPOSED int neptune_eventfd(unsigned value, int flags);
NEPTUNE_INTERPOSED int neptune_timerfd_create(clockid_t clock, int flags);
NEPTUNE_INTERPOSED int neptune_epoll_create(int size);
NEPTUNE_INTERPOSED int neptune_epoll_create1(int flags);
NEPTUNE_INTERPOSED int neptune_dup(int fd);
NEPTUNE_INTERPOSED int neptune_dup2(int fd, int copy);
NEPTUNE_INTERPOSED int neptune_dup3(int fd, int copy, int flags);
NEPTUNE_INTERPOSED int neptune_close(int fd);
NEPTUNE_INTERPOSED int neptune_close_range(unsigned first, unsigned last, int flags);
NEPTUNE_INTERPOSED void neptune_closefrom(int first);
// `argument` is the command's, see the manual page; ignored if the command has none.
NEPTUNE_INTERPOSED int neptune_fcntl(int fd, int command, void* argument);
NEPTUNE_INTERPOSED int neptune_ioctl(int fd, unsigned long request, void* argument);
NEPTUNE_INTERPOSED int neptune_setsockopt(int fd, int level, int option, const void* value,
                                          socklen_t size);

// Host names: the whole call runs on helper threads of the device capsule that takes
// /etc/resolv.conf, if there is one.
NEPTUNE_INTERPOSED int neptune_getaddrinfo(const char* host, const char* service,
                                           const addrinfo* hints, addrinfo** list);
NEPTUNE_INTERPOSED int neptune_getnameinfo(const sockaddr* address, socklen_t address_size,
                                           char* host, socklen_t host_size, char* service,
                                           socklen_t service_size, int flags);
NEPTUNE_INTERPOSED hostent* neptune_gethostbyname(const char* name);
NEPTUNE_INTERPOSED hostent* neptune_gethostbyname2(const char* name, int family);
NEPTUNE_INTERPOSED hostent* neptune_gethostbyaddr(const void* address, socklen_t size, int family);
NEPTUNE_INTERPOSED int neptune_gethostbyname_r(const char* name, hostent* entry, char* buffer,
                                               size_t size, hostent** result, int* host_error);
NEPTUNE_INTERPOSED int neptune_gethostbyname2_r(const char* name, int family, hostent* entry,
                                                char* buffer, size_t size, hostent** result,
                                                int* host_error);
NEPTUNE_INTERPOSED int neptune_gethostbyaddr_r(const void* address, socklen_t address_size,
                                               int family, hostent* entry, char* buffer,
                                               size_t size, hostent** result, int* host_error);

// Files that a device capsule takes: their calls run on its helper threads. FIFOs and devices that
// support polling are only opened there, and park like sockets.
NEPTUNE_INTERPOSED int neptune_openat(int folder, const char* path, int flags, mode_t mode);
NEPTUNE_INTERPOSED ssize_t neptune_pread(int fd, void* data, size_t size, off64_t offset);
NEPTUNE_INTERPOSED ssize_t neptune_pwrite(int fd, const void* data, size_t size, off64_t offset);
NEPTUNE_INTERPOSED int neptune_fsync(int fd);
NEPTUNE_INTERPOSED int neptune_fdatasync(int fd);
