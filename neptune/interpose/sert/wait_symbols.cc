// Calls that wait: the signal ends the wait, and the end of the call is a check. If the request may
// not be ended there, the call is repeated.

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>

#include "neptune/interpose/sert/next.h"
#include "neptune/sert/termination.h"

using neptune::sert::accounting_record;
using neptune::sert::Next;
using neptune::sert::Region;
using neptune::sert::WasInterruptedByUs;

namespace {

// Scope of a call at the end of which the thread's request, if any, may be ended.
class Check {
 public:
  explicit Check(const void* caller) {
    if (accounting_record != nullptr) region_.emplace(accounting_record, caller);
  }

 private:
  std::optional<Region> region_;
};

}  // namespace

// A call that may be repeated unchanged after an interruption.
#define NEPTUNE_WAITS(type, name, parameters, arguments)                          \
  NEPTUNE_SERT_SYMBOL type name parameters {                                      \
    static Next<type parameters> next(#name);                                     \
    while (true) {                                                                \
      type result;                                                                \
      {                                                                           \
        const Check check(__builtin_return_address(0));                           \
        result = next arguments;                                                  \
      }                                                                           \
      if (result != -1 || errno != EINTR || !WasInterruptedByUs()) return result; \
    }                                                                             \
  }

NEPTUNE_WAITS(ssize_t, read, (int fd, void* data, size_t size), (fd, data, size))
NEPTUNE_WAITS(ssize_t, readv, (int fd, const iovec* parts, int count), (fd, parts, count))
NEPTUNE_WAITS(ssize_t, recv, (int fd, void* data, size_t size, int flags), (fd, data, size, flags))
NEPTUNE_WAITS(ssize_t, recvfrom,
              (int fd, void* data, size_t size, int flags, sockaddr* from, socklen_t* from_size),
              (fd, data, size, flags, from, from_size))
NEPTUNE_WAITS(ssize_t, recvmsg, (int fd, msghdr* message, int flags), (fd, message, flags))
NEPTUNE_WAITS(ssize_t, write, (int fd, const void* data, size_t size), (fd, data, size))
NEPTUNE_WAITS(ssize_t, writev, (int fd, const iovec* parts, int count), (fd, parts, count))
NEPTUNE_WAITS(ssize_t, send, (int fd, const void* data, size_t size, int flags),
              (fd, data, size, flags))
NEPTUNE_WAITS(ssize_t, sendto,
              (int fd, const void* data, size_t size, int flags, const sockaddr* to,
               socklen_t to_size),
              (fd, data, size, flags, to, to_size))
NEPTUNE_WAITS(ssize_t, sendmsg, (int fd, const msghdr* message, int flags), (fd, message, flags))

// A connection attempt continues after an interruption; a second connect would fail with EALREADY.
NEPTUNE_SERT_SYMBOL int connect(int fd, const sockaddr* address, socklen_t size) {
  static Next<int(int, const sockaddr*, socklen_t)> next("connect");
  static Next<int(pollfd*, nfds_t, int)> next_poll("poll");
  const void* const caller = __builtin_return_address(0);
  int result = 0;
  {
    const Check check(caller);
    result = next(fd, address, size);
  }
  while (result == -1 && errno == EINTR && WasInterruptedByUs()) {
    const Check check(caller);
    pollfd writable = {.fd = fd, .events = POLLOUT, .revents = 0};
    if (next_poll(&writable, 1, -1) == -1) continue;
    int error = 0;
    socklen_t error_size = sizeof(error);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_size) != 0) return -1;
    errno = error;
    result = error == 0 ? 0 : -1;
  }
  return result;
}

namespace {

// A wait with a timeout in milliseconds (negative: forever), reduced by the elapsed time when it is
// repeated.
template <typename Wait>
int WaitFor(int timeout_ms, const void* caller, Wait wait) {
  const int64_t began = neptune::sert::NowNs();
  int left_ms = timeout_ms;
  while (true) {
    int result = 0;
    {
      const Check check(caller);
      result = wait(left_ms);
    }
    if (result != -1 || errno != EINTR || !WasInterruptedByUs()) return result;
    if (timeout_ms > 0) {
      const int64_t passed_ms = (neptune::sert::NowNs() - began) / 1'000'000;
      left_ms = static_cast<int>(std::max<int64_t>(timeout_ms - passed_ms, 0));
    }
  }
}

}  // namespace

NEPTUNE_SERT_SYMBOL int poll(pollfd* descriptors, nfds_t count, int timeout_ms) {
  static Next<int(pollfd*, nfds_t, int)> next("poll");
  return WaitFor(timeout_ms, __builtin_return_address(0),
                 [&](int left_ms) { return next(descriptors, count, left_ms); });
}
NEPTUNE_SERT_SYMBOL int epoll_wait(int epoll, epoll_event* events, int count, int timeout_ms) {
  static Next<int(int, epoll_event*, int, int)> next("epoll_wait");
  return WaitFor(timeout_ms, __builtin_return_address(0),
                 [&](int left_ms) { return next(epoll, events, count, left_ms); });
}
// Linux subtracts the elapsed time from the timeout.
NEPTUNE_WAITS(int, select,
              (int count, fd_set* readable, fd_set* writable, fd_set* exceptional,
               timeval* timeout),
              (count, readable, writable, exceptional, timeout))

NEPTUNE_SERT_SYMBOL int clock_nanosleep(clockid_t clock, int flags, const timespec* time,
                                        timespec* left) {
  static Next<int(clockid_t, int, const timespec*, timespec*)> next("clock_nanosleep");
  timespec rest = *time;
  while (true) {
    int error = 0;
    {
      const Check check(__builtin_return_address(0));
      error = next(clock, flags, &rest, &rest);
    }
    if (error == EINTR && WasInterruptedByUs()) continue;
    if (error == EINTR && left != nullptr && (flags & TIMER_ABSTIME) == 0) *left = rest;
    return error;
  }
}

namespace {

int Sleep(const timespec* time, timespec* left, const void* caller) {
  static Next<int(const timespec*, timespec*)> next("nanosleep");
  timespec rest = *time;
  while (true) {
    int result = 0;
    {
      const Check check(caller);
      result = next(&rest, &rest);
    }
    if (result == -1 && errno == EINTR && WasInterruptedByUs()) continue;
    if (result == -1 && left != nullptr) *left = rest;
    return result;
  }
}

}  // namespace

// Defined under other names; the linker gets the C library's names as aliases.
NEPTUNE_SERT_SYMBOL int SleepAsNanosleep(const timespec* time, timespec* left) __asm__("nanosleep");
NEPTUNE_SERT_SYMBOL int SleepAsUsleep(useconds_t time_us) __asm__("usleep");
NEPTUNE_SERT_SYMBOL unsigned SleepAsSleep(unsigned seconds) __asm__("sleep");

int SleepAsNanosleep(const timespec* time, timespec* left) {
  return Sleep(time, left, __builtin_return_address(0));
}
int SleepAsUsleep(useconds_t time_us) {
  const timespec time = {static_cast<time_t>(time_us / 1'000'000),
                         static_cast<long>(time_us % 1'000'000) * 1000};
  return Sleep(&time, nullptr, __builtin_return_address(0));
}
unsigned SleepAsSleep(unsigned seconds) {
  const timespec time = {static_cast<time_t>(seconds), 0};
  timespec left{};
  if (Sleep(&time, &left, __builtin_return_address(0)) == 0) return 0;
  return static_cast<unsigned>(left.tv_sec);
}
