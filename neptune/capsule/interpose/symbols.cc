// The C library's names, for programs that link this: whoever calls them in the process, also a shared library, comes
// here. The names with __ are what a compiler makes of the plain ones when it checks the size of buffers.

#include <cstdarg>
#include <cstdlib>

#include "neptune/capsule/interpose/calls.h"
#include "neptune/capsule/interpose/key_values.h"
#include "neptune/capsule/interpose/stream_calls.h"

namespace {

// A buffer is smaller than what may be written to it.
void CheckSize(size_t size, size_t buffer_size) {
  if (size > buffer_size) std::abort();
}

}  // namespace

#define NEPTUNE_SYMBOL extern "C" __attribute__((visibility("default")))

NEPTUNE_SYMBOL ssize_t read(int fd, void* data, size_t size) {
  return neptune_read(fd, data, size);
}
NEPTUNE_SYMBOL ssize_t __read_chk(int fd, void* data, size_t size, size_t buffer_size) {
  CheckSize(size, buffer_size);
  return neptune_read(fd, data, size);
}
NEPTUNE_SYMBOL ssize_t readv(int fd, const iovec* parts, int count) {
  return neptune_readv(fd, parts, count);
}
NEPTUNE_SYMBOL ssize_t recv(int fd, void* data, size_t size, int flags) {
  return neptune_recv(fd, data, size, flags);
}
NEPTUNE_SYMBOL ssize_t __recv_chk(int fd, void* data, size_t size, size_t buffer_size, int flags) {
  CheckSize(size, buffer_size);
  return neptune_recv(fd, data, size, flags);
}
NEPTUNE_SYMBOL ssize_t recvfrom(int fd, void* data, size_t size, int flags, sockaddr* from,
                                socklen_t* from_size) {
  return neptune_recvfrom(fd, data, size, flags, from, from_size);
}
NEPTUNE_SYMBOL ssize_t __recvfrom_chk(int fd, void* data, size_t size, size_t buffer_size,
                                      int flags, sockaddr* from, socklen_t* from_size) {
  CheckSize(size, buffer_size);
  return neptune_recvfrom(fd, data, size, flags, from, from_size);
}
NEPTUNE_SYMBOL ssize_t recvmsg(int fd, msghdr* message, int flags) {
  return neptune_recvmsg(fd, message, flags);
}
NEPTUNE_SYMBOL int recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags,
                            timespec* timeout) {
  return neptune_recvmmsg(fd, messages, count, flags, timeout);
}

NEPTUNE_SYMBOL ssize_t write(int fd, const void* data, size_t size) {
  return neptune_write(fd, data, size);
}
NEPTUNE_SYMBOL ssize_t writev(int fd, const iovec* parts, int count) {
  return neptune_writev(fd, parts, count);
}
NEPTUNE_SYMBOL ssize_t send(int fd, const void* data, size_t size, int flags) {
  return neptune_send(fd, data, size, flags);
}
NEPTUNE_SYMBOL ssize_t sendto(int fd, const void* data, size_t size, int flags, const sockaddr* to,
                              socklen_t to_size) {
  return neptune_sendto(fd, data, size, flags, to, to_size);
}
NEPTUNE_SYMBOL ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  return neptune_sendmsg(fd, message, flags);
}
NEPTUNE_SYMBOL int sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  return neptune_sendmmsg(fd, messages, count, flags);
}
NEPTUNE_SYMBOL ssize_t sendfile(int out, int in, off_t* offset, size_t size) noexcept {
  return neptune_sendfile(out, in, offset, size);
}
NEPTUNE_SYMBOL ssize_t sendfile64(int out, int in, off64_t* offset, size_t size) noexcept {
  return neptune_sendfile(out, in, offset, size);
}
NEPTUNE_SYMBOL ssize_t splice(int in, off64_t* in_offset, int out, off64_t* out_offset, size_t size,
                              unsigned flags) {
  return neptune_splice(in, in_offset, out, out_offset, size, flags);
}

NEPTUNE_SYMBOL int connect(int fd, const sockaddr* address, socklen_t size) {
  return neptune_connect(fd, address, size);
}
NEPTUNE_SYMBOL int accept(int fd, sockaddr* address, socklen_t* size) {
  return neptune_accept(fd, address, size);
}
NEPTUNE_SYMBOL int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  return neptune_accept4(fd, address, size, flags);
}

NEPTUNE_SYMBOL int poll(pollfd* descriptors, nfds_t count, int timeout_ms) {
  return neptune_poll(descriptors, count, timeout_ms);
}
NEPTUNE_SYMBOL int __poll_chk(pollfd* descriptors, nfds_t count, int timeout_ms,
                              size_t buffer_size) {
  CheckSize(count * sizeof(pollfd), buffer_size);
  return neptune_poll(descriptors, count, timeout_ms);
}
NEPTUNE_SYMBOL int ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout,
                         const sigset_t* mask) {
  return neptune_ppoll(descriptors, count, timeout, mask);
}
NEPTUNE_SYMBOL int __ppoll_chk(pollfd* descriptors, nfds_t count, const timespec* timeout,
                               const sigset_t* mask, size_t buffer_size) {
  CheckSize(count * sizeof(pollfd), buffer_size);
  return neptune_ppoll(descriptors, count, timeout, mask);
}
NEPTUNE_SYMBOL int select(int count, fd_set* readable, fd_set* writable, fd_set* exceptional,
                          timeval* timeout) {
  return neptune_select(count, readable, writable, exceptional, timeout);
}
NEPTUNE_SYMBOL int pselect(int count, fd_set* readable, fd_set* writable, fd_set* exceptional,
                           const timespec* timeout, const sigset_t* mask) {
  return neptune_pselect(count, readable, writable, exceptional, timeout, mask);
}
NEPTUNE_SYMBOL int epoll_wait(int epoll, epoll_event* events, int count, int timeout_ms) {
  return neptune_epoll_wait(epoll, events, count, timeout_ms);
}
NEPTUNE_SYMBOL int epoll_pwait(int epoll, epoll_event* events, int count, int timeout_ms,
                               const sigset_t* mask) {
  return neptune_epoll_pwait(epoll, events, count, timeout_ms, mask);
}
NEPTUNE_SYMBOL unsigned sleep(unsigned seconds) { return neptune_sleep(seconds); }
NEPTUNE_SYMBOL int usleep(useconds_t time_us) { return neptune_usleep(time_us); }
NEPTUNE_SYMBOL int nanosleep(const timespec* time, timespec* left) {
  return neptune_nanosleep(time, left);
}
NEPTUNE_SYMBOL int clock_nanosleep(clockid_t clock, int flags, const timespec* time,
                                   timespec* left) {
  return neptune_clock_nanosleep(clock, flags, time, left);
}

NEPTUNE_SYMBOL int socket(int domain, int type, int protocol) noexcept {
  return neptune_socket(domain, type, protocol);
}
NEPTUNE_SYMBOL int socketpair(int domain, int type, int protocol, int* pair) noexcept {
  return neptune_socketpair(domain, type, protocol, pair);
}
NEPTUNE_SYMBOL int pipe(int* pair) noexcept { return neptune_pipe(pair); }
NEPTUNE_SYMBOL int pipe2(int* pair, int flags) noexcept { return neptune_pipe2(pair, flags); }
NEPTUNE_SYMBOL int eventfd(unsigned value, int flags) noexcept {
  return neptune_eventfd(value, flags);
}
NEPTUNE_SYMBOL int timerfd_create(clockid_t clock, int flags) noexcept {
  return neptune_timerfd_create(clock, flags);
}
NEPTUNE_SYMBOL int epoll_create(int size) noexcept { return neptune_epoll_create(size); }
NEPTUNE_SYMBOL int epoll_create1(int flags) noexcept { return neptune_epoll_create1(flags); }
NEPTUNE_SYMBOL int dup(int fd) noexcept { return neptune_dup(fd); }
NEPTUNE_SYMBOL int dup2(int fd, int copy) noexcept { return neptune_dup2(fd, copy); }
NEPTUNE_SYMBOL int dup3(int fd, int copy, int flags) noexcept {
  return neptune_dup3(fd, copy, flags);
}
NEPTUNE_SYMBOL int close(int fd) { return neptune_close(fd); }
NEPTUNE_SYMBOL int close_range(unsigned first, unsigned last, int flags) noexcept {
  return neptune_close_range(first, last, flags);
}
NEPTUNE_SYMBOL void closefrom(int first) noexcept { neptune_closefrom(first); }
NEPTUNE_SYMBOL int setsockopt(int fd, int level, int option, const void* value,
                              socklen_t size) noexcept {
  return neptune_setsockopt(fd, level, option, value, size);
}

// What the argument is, and whether there is one, the system knows.
NEPTUNE_SYMBOL int fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return neptune_fcntl(fd, command, argument);
}
NEPTUNE_SYMBOL int fcntl64(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return neptune_fcntl(fd, command, argument);
}
NEPTUNE_SYMBOL int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return neptune_ioctl(fd, request, argument);
}

NEPTUNE_SYMBOL FILE* fdopen(int fd, const char* mode) noexcept {
  return neptune::interpose::OpenStream(fd, mode);
}
NEPTUNE_SYMBOL int fileno(FILE* stream) noexcept {
  return neptune::interpose::DescriptorOf(stream);
}
NEPTUNE_SYMBOL int fileno_unlocked(FILE* stream) noexcept {
  return neptune::interpose::DescriptorOf(stream);
}

NEPTUNE_SYMBOL int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) noexcept {
  return neptune::interpose::CreateKey(key, destructor, __builtin_return_address(0));
}
NEPTUNE_SYMBOL int pthread_key_delete(pthread_key_t key) noexcept {
  return neptune::interpose::DeleteKey(key);
}
NEPTUNE_SYMBOL void* pthread_getspecific(pthread_key_t key) noexcept {
  return neptune::interpose::GetKeyValue(key);
}
NEPTUNE_SYMBOL int pthread_setspecific(pthread_key_t key, const void* value) noexcept {
  return neptune::interpose::SetKeyValue(key, value);
}
