// The C library's names, for programs that link this library: all calls in the process, also those
// of shared libraries, arrive here. Names with __ are the compiler's variants with buffer size
// checks.

#include <cstdarg>
#include <cstdlib>

#include "neptune/interpose/calls.h"
#include "neptune/interpose/key_values.h"
#include "neptune/interpose/stream_calls.h"

namespace {

// Reports a buffer that is smaller than what may be written to it.
void CheckSize(size_t size, size_t buffer_size) {
  if (size > buffer_size) std::abort();
}

}  // namespace

// The preload library defines other names.
#ifndef NEPTUNE_NAME
#define NEPTUNE_NAME(name) name
#endif

#define NEPTUNE_SYMBOL extern "C" __attribute__((visibility("default")))

NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(read)(int fd, void* data, size_t size) {
  return neptune_read(fd, data, size);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(__read_chk)(int fd, void* data, size_t size,
                                                size_t buffer_size) {
  CheckSize(size, buffer_size);
  return neptune_read(fd, data, size);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(readv)(int fd, const iovec* parts, int count) {
  return neptune_readv(fd, parts, count);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(recv)(int fd, void* data, size_t size, int flags) {
  return neptune_recv(fd, data, size, flags);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(__recv_chk)(int fd, void* data, size_t size, size_t buffer_size,
                                                int flags) {
  CheckSize(size, buffer_size);
  return neptune_recv(fd, data, size, flags);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(recvfrom)(int fd, void* data, size_t size, int flags,
                                              sockaddr* from, socklen_t* from_size) {
  return neptune_recvfrom(fd, data, size, flags, from, from_size);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(__recvfrom_chk)(int fd, void* data, size_t size,
                                                    size_t buffer_size, int flags, sockaddr* from,
                                                    socklen_t* from_size) {
  CheckSize(size, buffer_size);
  return neptune_recvfrom(fd, data, size, flags, from, from_size);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(recvmsg)(int fd, msghdr* message, int flags) {
  return neptune_recvmsg(fd, message, flags);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(recvmmsg)(int fd, mmsghdr* messages, unsigned count, int flags,
                                          timespec* timeout) {
  return neptune_recvmmsg(fd, messages, count, flags, timeout);
}

NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(write)(int fd, const void* data, size_t size) {
  return neptune_write(fd, data, size);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(writev)(int fd, const iovec* parts, int count) {
  return neptune_writev(fd, parts, count);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(send)(int fd, const void* data, size_t size, int flags) {
  return neptune_send(fd, data, size, flags);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(sendto)(int fd, const void* data, size_t size, int flags,
                                            const sockaddr* to, socklen_t to_size) {
  return neptune_sendto(fd, data, size, flags, to, to_size);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(sendmsg)(int fd, const msghdr* message, int flags) {
  return neptune_sendmsg(fd, message, flags);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(sendmmsg)(int fd, mmsghdr* messages, unsigned count, int flags) {
  return neptune_sendmmsg(fd, messages, count, flags);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(sendfile)(int out, int in, off_t* offset,
                                              size_t size) noexcept {
  return neptune_sendfile(out, in, offset, size);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(sendfile64)(int out, int in, off64_t* offset,
                                                size_t size) noexcept {
  return neptune_sendfile(out, in, offset, size);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(splice)(int in, off64_t* in_offset, int out,
                                            off64_t* out_offset, size_t size, unsigned flags) {
  return neptune_splice(in, in_offset, out, out_offset, size, flags);
}

NEPTUNE_SYMBOL int NEPTUNE_NAME(connect)(int fd, const sockaddr* address, socklen_t size) {
  return neptune_connect(fd, address, size);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(accept)(int fd, sockaddr* address, socklen_t* size) {
  return neptune_accept(fd, address, size);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(accept4)(int fd, sockaddr* address, socklen_t* size, int flags) {
  return neptune_accept4(fd, address, size, flags);
}

NEPTUNE_SYMBOL int NEPTUNE_NAME(poll)(pollfd* descriptors, nfds_t count, int timeout_ms) {
  return neptune_poll(descriptors, count, timeout_ms);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(__poll_chk)(pollfd* descriptors, nfds_t count, int timeout_ms,
                                            size_t buffer_size) {
  CheckSize(count * sizeof(pollfd), buffer_size);
  return neptune_poll(descriptors, count, timeout_ms);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(ppoll)(pollfd* descriptors, nfds_t count, const timespec* timeout,
                                       const sigset_t* mask) {
  return neptune_ppoll(descriptors, count, timeout, mask);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(__ppoll_chk)(pollfd* descriptors, nfds_t count,
                                             const timespec* timeout, const sigset_t* mask,
                                             size_t buffer_size) {
  CheckSize(count * sizeof(pollfd), buffer_size);
  return neptune_ppoll(descriptors, count, timeout, mask);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(select)(int count, fd_set* readable, fd_set* writable,
                                        fd_set* exceptional, timeval* timeout) {
  return neptune_select(count, readable, writable, exceptional, timeout);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(pselect)(int count, fd_set* readable, fd_set* writable,
                                         fd_set* exceptional, const timespec* timeout,
                                         const sigset_t* mask) {
  return neptune_pselect(count, readable, writable, exceptional, timeout, mask);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(epoll_wait)(int epoll, epoll_event* events, int count,
                                            int timeout_ms) {
  return neptune_epoll_wait(epoll, events, count, timeout_ms);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(epoll_pwait)(int epoll, epoll_event* events, int count,
                                             int timeout_ms, const sigset_t* mask) {
  return neptune_epoll_pwait(epoll, events, count, timeout_ms, mask);
}
NEPTUNE_SYMBOL unsigned NEPTUNE_NAME(sleep)(unsigned seconds) { return neptune_sleep(seconds); }
NEPTUNE_SYMBOL int NEPTUNE_NAME(usleep)(useconds_t time_us) { return neptune_usleep(time_us); }
NEPTUNE_SYMBOL int NEPTUNE_NAME(nanosleep)(const timespec* time, timespec* left) {
  return neptune_nanosleep(time, left);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(clock_nanosleep)(clockid_t clock, int flags, const timespec* time,
                                                 timespec* left) {
  return neptune_clock_nanosleep(clock, flags, time, left);
}

NEPTUNE_SYMBOL int NEPTUNE_NAME(socket)(int domain, int type, int protocol) noexcept {
  return neptune_socket(domain, type, protocol);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(socketpair)(int domain, int type, int protocol,
                                            int* pair) noexcept {
  return neptune_socketpair(domain, type, protocol, pair);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(pipe)(int* pair) noexcept { return neptune_pipe(pair); }
NEPTUNE_SYMBOL int NEPTUNE_NAME(pipe2)(int* pair, int flags) noexcept {
  return neptune_pipe2(pair, flags);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(eventfd)(unsigned value, int flags) noexcept {
  return neptune_eventfd(value, flags);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(timerfd_create)(clockid_t clock, int flags) noexcept {
  return neptune_timerfd_create(clock, flags);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(epoll_create)(int size) noexcept {
  return neptune_epoll_create(size);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(epoll_create1)(int flags) noexcept {
  return neptune_epoll_create1(flags);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(dup)(int fd) noexcept { return neptune_dup(fd); }
NEPTUNE_SYMBOL int NEPTUNE_NAME(dup2)(int fd, int copy) noexcept { return neptune_dup2(fd, copy); }
NEPTUNE_SYMBOL int NEPTUNE_NAME(dup3)(int fd, int copy, int flags) noexcept {
  return neptune_dup3(fd, copy, flags);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(close)(int fd) { return neptune_close(fd); }
NEPTUNE_SYMBOL int NEPTUNE_NAME(close_range)(unsigned first, unsigned last, int flags) noexcept {
  return neptune_close_range(first, last, flags);
}
NEPTUNE_SYMBOL void NEPTUNE_NAME(closefrom)(int first) noexcept { neptune_closefrom(first); }
NEPTUNE_SYMBOL int NEPTUNE_NAME(setsockopt)(int fd, int level, int option, const void* value,
                                            socklen_t size) noexcept {
  return neptune_setsockopt(fd, level, option, value, size);
}

// The system knows the type of the argument and whether there is one.
NEPTUNE_SYMBOL int NEPTUNE_NAME(fcntl)(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return neptune_fcntl(fd, command, argument);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(fcntl64)(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return neptune_fcntl(fd, command, argument);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(ioctl)(int fd, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return neptune_ioctl(fd, request, argument);
}

NEPTUNE_SYMBOL int NEPTUNE_NAME(getaddrinfo)(const char* host, const char* service,
                                             const addrinfo* hints, addrinfo** list) {
  return neptune_getaddrinfo(host, service, hints, list);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(getnameinfo)(const sockaddr* address, socklen_t address_size,
                                             char* host, socklen_t host_size, char* service,
                                             socklen_t service_size, int flags) {
  return neptune_getnameinfo(address, address_size, host, host_size, service, service_size, flags);
}
NEPTUNE_SYMBOL hostent* NEPTUNE_NAME(gethostbyname)(const char* name) {
  return neptune_gethostbyname(name);
}
NEPTUNE_SYMBOL hostent* NEPTUNE_NAME(gethostbyname2)(const char* name, int family) {
  return neptune_gethostbyname2(name, family);
}
NEPTUNE_SYMBOL hostent* NEPTUNE_NAME(gethostbyaddr)(const void* address, socklen_t size,
                                                    int family) {
  return neptune_gethostbyaddr(address, size, family);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(gethostbyname_r)(const char* name, hostent* entry, char* buffer,
                                                 size_t size, hostent** result, int* host_error) {
  return neptune_gethostbyname_r(name, entry, buffer, size, result, host_error);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(gethostbyname2_r)(const char* name, int family, hostent* entry,
                                                  char* buffer, size_t size, hostent** result,
                                                  int* host_error) {
  return neptune_gethostbyname2_r(name, family, entry, buffer, size, result, host_error);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(gethostbyaddr_r)(const void* address, socklen_t address_size,
                                                 int family, hostent* entry, char* buffer,
                                                 size_t size, hostent** result, int* host_error) {
  return neptune_gethostbyaddr_r(address, address_size, family, entry, buffer, size, result,
                                 host_error);
}

// True if open(2) has a mode argument.
#define NEPTUNE_MODE_OF(flags)                                        \
  ({                                                                  \
    mode_t mode = 0;                                                  \
    if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) { \
      va_list arguments;                                              \
      va_start(arguments, flags);                                     \
      mode = va_arg(arguments, mode_t);                               \
      va_end(arguments);                                              \
    }                                                                 \
    mode;                                                             \
  })
NEPTUNE_SYMBOL int NEPTUNE_NAME(open)(const char* path, int flags, ...) {
  return neptune_openat(AT_FDCWD, path, flags, NEPTUNE_MODE_OF(flags));
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(open64)(const char* path, int flags, ...) {
  return neptune_openat(AT_FDCWD, path, flags, NEPTUNE_MODE_OF(flags));
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(openat)(int folder, const char* path, int flags, ...) {
  return neptune_openat(folder, path, flags, NEPTUNE_MODE_OF(flags));
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(openat64)(int folder, const char* path, int flags, ...) {
  return neptune_openat(folder, path, flags, NEPTUNE_MODE_OF(flags));
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(creat)(const char* path, mode_t mode) {
  return neptune_openat(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(creat64)(const char* path, mode_t mode) {
  return neptune_openat(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(__open_2)(const char* path, int flags) {
  return neptune_openat(AT_FDCWD, path, flags, 0);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(__open64_2)(const char* path, int flags) {
  return neptune_openat(AT_FDCWD, path, flags, 0);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(__openat_2)(int folder, const char* path, int flags) {
  return neptune_openat(folder, path, flags, 0);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(__openat64_2)(int folder, const char* path, int flags) {
  return neptune_openat(folder, path, flags, 0);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(pread)(int fd, void* data, size_t size, off_t offset) {
  return neptune_pread(fd, data, size, offset);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(pread64)(int fd, void* data, size_t size, off64_t offset) {
  return neptune_pread(fd, data, size, offset);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(__pread_chk)(int fd, void* data, size_t size, off_t offset,
                                                 size_t buffer_size) {
  CheckSize(size, buffer_size);
  return neptune_pread(fd, data, size, offset);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(__pread64_chk)(int fd, void* data, size_t size, off64_t offset,
                                                   size_t buffer_size) {
  CheckSize(size, buffer_size);
  return neptune_pread(fd, data, size, offset);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(pwrite)(int fd, const void* data, size_t size, off_t offset) {
  return neptune_pwrite(fd, data, size, offset);
}
NEPTUNE_SYMBOL ssize_t NEPTUNE_NAME(pwrite64)(int fd, const void* data, size_t size,
                                              off64_t offset) {
  return neptune_pwrite(fd, data, size, offset);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(fsync)(int fd) { return neptune_fsync(fd); }
NEPTUNE_SYMBOL int NEPTUNE_NAME(fdatasync)(int fd) { return neptune_fdatasync(fd); }
NEPTUNE_SYMBOL FILE* NEPTUNE_NAME(fopen)(const char* path, const char* mode) {
  return neptune::interpose::OpenFileStream(path, mode);
}
NEPTUNE_SYMBOL FILE* NEPTUNE_NAME(fopen64)(const char* path, const char* mode) {
  return neptune::interpose::OpenFileStream(path, mode);
}
NEPTUNE_SYMBOL FILE* NEPTUNE_NAME(fdopen)(int fd, const char* mode) noexcept {
  return neptune::interpose::OpenStream(fd, mode);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(fileno)(FILE* stream) noexcept {
  return neptune::interpose::DescriptorOf(stream);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(fileno_unlocked)(FILE* stream) noexcept {
  return neptune::interpose::DescriptorOf(stream);
}

NEPTUNE_SYMBOL int NEPTUNE_NAME(pthread_key_create)(pthread_key_t* key,
                                                    void (*destructor)(void*)) noexcept {
  return neptune::interpose::CreateKey(key, destructor, __builtin_return_address(0));
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(pthread_key_delete)(pthread_key_t key) noexcept {
  return neptune::interpose::DeleteKey(key);
}
NEPTUNE_SYMBOL void* NEPTUNE_NAME(pthread_getspecific)(pthread_key_t key) noexcept {
  return neptune::interpose::GetKeyValue(key);
}
NEPTUNE_SYMBOL int NEPTUNE_NAME(pthread_setspecific)(pthread_key_t key,
                                                     const void* value) noexcept {
  return neptune::interpose::SetKeyValue(key, value);
}
