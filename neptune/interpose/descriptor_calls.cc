// Calls that open, duplicate, change and close descriptors.

#include <dirent.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <charconv>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <string_view>

#include "neptune/interpose/blocking_call.h"
#include "neptune/interpose/calls.h"

namespace neptune::interpose {
namespace {

// `nonblocking` is the mode that the program asked for.
int Opened(int fd, bool nonblocking) {
  if (fd < 0 || !TracksHere()) return fd;
  const int error = errno;
  auto file = std::make_shared<OpenFile>();
  file->nonblocking = nonblocking;
  Track(fd, std::move(file));
  errno = error;
  return fd;
}

// Null: not tracked.
std::shared_ptr<OpenFile> FileOf(int fd) {
  Descriptor* const descriptor = FindTracked(fd);
  return descriptor == nullptr ? nullptr : descriptor->file();
}

int GetFlags(int fd) {
  const int flags = RealLibc().fcntl(fd, F_GETFL);
  const auto file = FileOf(fd);
  if (flags < 0 || file == nullptr || !file->parks) return flags;
  return file->nonblocking ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
}

int SetFlags(int fd, int flags) {
  const auto file = FileOf(fd);
  const bool parks = file != nullptr && file->parks;
  const int result = RealLibc().fcntl(fd, F_SETFL, parks ? flags | O_NONBLOCK : flags);
  if (result >= 0 && file != nullptr) file->nonblocking = (flags & O_NONBLOCK) != 0;
  return result;
}

int SetNonblocking(int fd, int* value) {
  const auto file = FileOf(fd);
  if (file == nullptr) return RealLibc().ioctl(fd, FIONBIO, value);
  int underneath = file->parks ? 1 : *value;
  const int result = RealLibc().ioctl(fd, FIONBIO, &underneath);
  if (result >= 0) file->nonblocking = *value != 0;
  return result;
}

int Duplicate(int fd, int command, void* argument) {
  const int copy = RealLibc().fcntl(fd, command, argument);
  if (copy >= 0) TrackDuplicate(fd, copy);
  return copy;
}

Duration FromTimeval(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

// The timeout in effect, which may differ from the one set.
void NoteTimeouts(int fd, OpenFile& file) {
  timeval time{};
  socklen_t size = sizeof(time);
  if (getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, &size) == 0) {
    file.receive_timeout = FromTimeval(time);
  }
  size = sizeof(time);
  if (getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, &size) == 0) {
    file.send_timeout = FromTimeval(time);
  }
}

bool IsSocket(int fd) {
  struct stat about {};
  return fstat(fd, &about) == 0 && S_ISSOCK(about.st_mode);
}

void TrackInherited(int fd) {
  auto file = std::make_shared<OpenFile>();
  const int flags = RealLibc().fcntl(fd, F_GETFL);
  file->nonblocking = flags >= 0 && (flags & O_NONBLOCK) != 0;
  NoteTimeouts(fd, *file);
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  auto* const generic = reinterpret_cast<sockaddr*>(&peer);
  if (getpeername(fd, generic, &size) == 0) file->SetDependency(DependencyOn(generic, size));
  Track(fd, std::move(file));
}

}  // namespace

void TrackInheritedSockets() {
  DIR* const descriptors = opendir("/proc/self/fd");
  if (descriptors == nullptr) return;
  while (const dirent* const entry = readdir(descriptors)) {
    int fd = -1;
    const std::string_view name = entry->d_name;
    if (std::from_chars(name.data(), name.data() + name.size(), fd).ec != std::errc()) continue;
    if (IsSocket(fd)) TrackInherited(fd);
  }
  closedir(descriptors);
}

}  // namespace neptune::interpose

using neptune::interpose::Opened;
using neptune::interpose::RealLibc;
using neptune::interpose::TrackDuplicate;
using neptune::interpose::Untrack;

int neptune_socket(int domain, int type, int protocol) {
  return Opened(RealLibc().socket(domain, type, protocol), (type & SOCK_NONBLOCK) != 0);
}

int neptune_socketpair(int domain, int type, int protocol, int* pair) {
  const int result = RealLibc().socketpair(domain, type, protocol, pair);
  if (result != 0) return result;
  Opened(pair[0], (type & SOCK_NONBLOCK) != 0);
  Opened(pair[1], (type & SOCK_NONBLOCK) != 0);
  return result;
}

int neptune_pipe(int* pair) { return neptune_pipe2(pair, 0); }

int neptune_pipe2(int* pair, int flags) {
  const int result = RealLibc().pipe2(pair, flags);
  if (result != 0) return result;
  Opened(pair[0], (flags & O_NONBLOCK) != 0);
  Opened(pair[1], (flags & O_NONBLOCK) != 0);
  return result;
}

int neptune_eventfd(unsigned value, int flags) {
  return Opened(RealLibc().eventfd(value, flags), (flags & EFD_NONBLOCK) != 0);
}

int neptune_timerfd_create(clockid_t clock, int flags) {
  return Opened(RealLibc().timerfd_create(clock, flags), (flags & TFD_NONBLOCK) != 0);
}

int neptune_epoll_create(int size) {
  if (size > 0) return neptune_epoll_create1(0);
  errno = EINVAL;
  return -1;
}

int neptune_epoll_create1(int flags) { return Opened(RealLibc().epoll_create1(flags), false); }

int neptune_dup(int fd) {
  const int copy = RealLibc().dup(fd);
  if (copy >= 0) TrackDuplicate(fd, copy);
  return copy;
}

int neptune_dup2(int fd, int copy) {
  if (fd == copy) return RealLibc().dup2(fd, copy);
  Untrack(copy);
  const int result = RealLibc().dup2(fd, copy);
  if (result >= 0) TrackDuplicate(fd, copy);
  return result;
}

int neptune_dup3(int fd, int copy, int flags) {
  if (fd == copy) return RealLibc().dup3(fd, copy, flags);
  Untrack(copy);
  const int result = RealLibc().dup3(fd, copy, flags);
  if (result >= 0) TrackDuplicate(fd, copy);
  return result;
}

// Untracks before the system closes it, because another thread may get the number at once.
int neptune_close(int fd) {
  Untrack(fd);
  return RealLibc().close(fd);
}

int neptune_close_range(unsigned first, unsigned last, int flags) {
  const bool closes = (static_cast<unsigned>(flags) & CLOSE_RANGE_CLOEXEC) == 0;
  if (closes && first <= last) neptune::interpose::UntrackRange(first, last);
  return RealLibc().close_range(first, last, flags);
}

void neptune_closefrom(int first) {
  neptune_close_range(first < 0 ? 0 : static_cast<unsigned>(first), UINT_MAX, 0);
}

int neptune_fcntl(int fd, int command, void* argument) {
  switch (command) {
    case F_GETFL:
      return neptune::interpose::GetFlags(fd);
    case F_SETFL:
      return neptune::interpose::SetFlags(fd,
                                          static_cast<int>(reinterpret_cast<intptr_t>(argument)));
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
      return neptune::interpose::Duplicate(fd, command, argument);
    default:
      return RealLibc().fcntl(fd, command, argument);
  }
}

int neptune_ioctl(int fd, unsigned long request, void* argument) {
  if (request == FIONBIO && argument != nullptr) {
    return neptune::interpose::SetNonblocking(fd, static_cast<int*>(argument));
  }
  return RealLibc().ioctl(fd, request, argument);
}

int neptune_setsockopt(int fd, int level, int option, const void* value, socklen_t size) {
  const int result = RealLibc().setsockopt(fd, level, option, value, size);
  const bool is_timeout = option == SO_RCVTIMEO_OLD || option == SO_SNDTIMEO_OLD ||
                          option == SO_RCVTIMEO_NEW || option == SO_SNDTIMEO_NEW;
  if (result != 0 || level != SOL_SOCKET || !is_timeout) return result;
  const int error = errno;
  if (const auto file = neptune::interpose::FileOf(fd)) neptune::interpose::NoteTimeouts(fd, *file);
  errno = error;
  return result;
}
