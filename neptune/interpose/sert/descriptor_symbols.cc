// Descriptors, directories and mappings: those that a request has open are closed when it is ended
// early.

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>

#include "neptune/interpose/sert/next.h"
#include "neptune/sert/code_ranges.h"

namespace neptune::sert {
namespace {

// Null: not owned by a request.
RequestRecord* OwnerFor(const void* caller) {
  RequestRecord* const record = accounting_record;
  return record == nullptr || library_code.Contains(caller) ? nullptr : record;
}

int Opened(RequestRecord* record, int fd) {
  if (fd >= 0) record->ledger.AddDescriptor(fd);
  return fd;
}

template <typename Call>
int OpenedAfterWait(RequestRecord* record, const void* caller, Call call) {
  while (true) {
    int fd = -1;
    {
      const Region region(record, caller);
      fd = Opened(record, call());
    }
    if (fd != -1 || errno != EINTR || !WasInterruptedByUs()) return fd;
  }
}

int OpenedPair(RequestRecord* record, int result, const int* pair) {
  if (result == 0) {
    record->ledger.AddDescriptor(pair[0]);
    record->ledger.AddDescriptor(pair[1]);
  }
  return result;
}

}  // namespace
}  // namespace neptune::sert

using neptune::sert::Next;
using neptune::sert::Opened;
using neptune::sert::OpenedAfterWait;
using neptune::sert::OpenedPair;
using neptune::sert::OwnerFor;
using neptune::sert::Region;
using neptune::sert::RequestRecord;

// A call that returns a descriptor. It may wait: accept for a connection, open for a FIFO. The
// signal ends the wait, and the call is repeated if the request may not be ended there.
#define NEPTUNE_OPENS(name, parameters, arguments)                          \
  NEPTUNE_SERT_SYMBOL int name parameters {                                 \
    static Next<int parameters> next(#name);                                \
    const void* const caller = __builtin_return_address(0);                 \
    RequestRecord* const record = OwnerFor(caller);                         \
    if (record == nullptr) return next arguments;                           \
    return OpenedAfterWait(record, caller, [&] { return next arguments; }); \
  }
// A call that returns two descriptors.
#define NEPTUNE_OPENS_PAIR(name, parameters, arguments)                  \
  NEPTUNE_SERT_SYMBOL int name parameters {                              \
    static Next<int parameters> next(#name);                             \
    RequestRecord* const record = OwnerFor(__builtin_return_address(0)); \
    if (record == nullptr) return next arguments;                        \
    const Region region(record, __builtin_return_address(0));            \
    return OpenedPair(record, next arguments, pair);                     \
  }

namespace {

// The mode argument exists only if the call may create a file.
#define NEPTUNE_MODE(flags)                                         \
  mode_t mode = 0;                                                  \
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) { \
    va_list rest;                                                   \
    va_start(rest, flags);                                          \
    mode = va_arg(rest, mode_t);                                    \
    va_end(rest);                                                   \
  }

int Open(Next<int(const char*, int, mode_t)>& next, const char* path, int flags, mode_t mode,
         const void* caller) {
  RequestRecord* const record = OwnerFor(caller);
  if (record == nullptr) return next(path, flags, mode);
  return OpenedAfterWait(record, caller, [&] { return next(path, flags, mode); });
}

}  // namespace

NEPTUNE_SERT_SYMBOL int open(const char* path, int flags, ...) {
  static Next<int(const char*, int, mode_t)> next("open");
  NEPTUNE_MODE(flags)
  return Open(next, path, flags, mode, __builtin_return_address(0));
}
NEPTUNE_SERT_SYMBOL int open64(const char* path, int flags, ...) {
  static Next<int(const char*, int, mode_t)> next("open64");
  NEPTUNE_MODE(flags)
  return Open(next, path, flags, mode, __builtin_return_address(0));
}
NEPTUNE_SERT_SYMBOL int openat(int directory, const char* path, int flags, ...) {
  static Next<int(int, const char*, int, mode_t)> next("openat");
  NEPTUNE_MODE(flags)
  const void* const caller = __builtin_return_address(0);
  RequestRecord* const record = OwnerFor(caller);
  if (record == nullptr) return next(directory, path, flags, mode);
  return OpenedAfterWait(record, caller, [&] { return next(directory, path, flags, mode); });
}
NEPTUNE_OPENS(creat, (const char* path, mode_t mode), (path, mode))
NEPTUNE_OPENS(socket, (int domain, int type, int protocol), (domain, type, protocol))
NEPTUNE_OPENS(accept, (int fd, sockaddr* address, socklen_t* size), (fd, address, size))
NEPTUNE_OPENS(accept4, (int fd, sockaddr* address, socklen_t* size, int flags),
              (fd, address, size, flags))
NEPTUNE_OPENS(dup, (int fd), (fd))
NEPTUNE_OPENS(eventfd, (unsigned value, int flags), (value, flags))
NEPTUNE_OPENS(timerfd_create, (clockid_t clock, int flags), (clock, flags))
NEPTUNE_OPENS(epoll_create, (int size), (size))
NEPTUNE_OPENS(epoll_create1, (int flags), (flags))
NEPTUNE_OPENS(inotify_init1, (int flags), (flags))
NEPTUNE_OPENS(memfd_create, (const char* name, unsigned flags), (name, flags))
NEPTUNE_OPENS_PAIR(pipe, (int* pair), (pair))
NEPTUNE_OPENS_PAIR(pipe2, (int* pair, int flags), (pair, flags))
NEPTUNE_OPENS_PAIR(socketpair, (int domain, int type, int protocol, int* pair),
                   (domain, type, protocol, pair))

NEPTUNE_SERT_SYMBOL int dup2(int fd, int copy) {
  static Next<int(int, int)> next("dup2");
  RequestRecord* const record = OwnerFor(__builtin_return_address(0));
  if (record == nullptr || fd == copy) return next(fd, copy);
  const Region region(record, __builtin_return_address(0));
  record->ledger.RemoveDescriptor(copy);
  return Opened(record, next(fd, copy));
}
NEPTUNE_SERT_SYMBOL int dup3(int fd, int copy, int flags) {
  static Next<int(int, int, int)> next("dup3");
  RequestRecord* const record = OwnerFor(__builtin_return_address(0));
  if (record == nullptr || fd == copy) return next(fd, copy, flags);
  const Region region(record, __builtin_return_address(0));
  record->ledger.RemoveDescriptor(copy);
  return Opened(record, next(fd, copy, flags));
}
NEPTUNE_SERT_SYMBOL int close(int fd) {
  static Next<int(int)> next("close");
  RequestRecord* const record = neptune::sert::accounting_record;
  if (record == nullptr) return next(fd);
  const Region region(record, __builtin_return_address(0));
  record->ledger.RemoveDescriptor(fd);
  return next(fd);
}

namespace {

DIR* OpenedDirectory(RequestRecord* record, DIR* directory) {
  if (directory != nullptr) record->ledger.AddDirectory(directory);
  return directory;
}

}  // namespace

NEPTUNE_SERT_SYMBOL DIR* opendir(const char* path) {
  static Next<DIR*(const char*)> next("opendir");
  RequestRecord* const record = OwnerFor(__builtin_return_address(0));
  if (record == nullptr) return next(path);
  const Region region(record, __builtin_return_address(0));
  return OpenedDirectory(record, next(path));
}
// The directory owns the descriptor from here on.
NEPTUNE_SERT_SYMBOL DIR* fdopendir(int fd) {
  static Next<DIR*(int)> next("fdopendir");
  RequestRecord* const record = OwnerFor(__builtin_return_address(0));
  if (record == nullptr) return next(fd);
  const Region region(record, __builtin_return_address(0));
  DIR* const directory = next(fd);
  if (directory != nullptr) record->ledger.RemoveDescriptor(fd);
  return OpenedDirectory(record, directory);
}
NEPTUNE_SERT_SYMBOL int closedir(DIR* directory) {
  static Next<int(DIR*)> next("closedir");
  RequestRecord* const record = neptune::sert::accounting_record;
  if (record == nullptr) return next(directory);
  const Region region(record, __builtin_return_address(0));
  record->ledger.RemoveDirectory(directory);
  return next(directory);
}

NEPTUNE_SERT_SYMBOL void* mmap(void* at, size_t size, int protection, int flags, int fd,
                               off_t offset) {
  static Next<void*(void*, size_t, int, int, int, off_t)> next("mmap");
  RequestRecord* const record = OwnerFor(__builtin_return_address(0));
  if (record == nullptr || record->depth != 0) {
    return next(at, size, protection, flags, fd, offset);
  }
  const Region region(record, __builtin_return_address(0));
  void* const mapped = next(at, size, protection, flags, fd, offset);
  if (mapped != MAP_FAILED) {
    record->ledger.RemoveMapping(reinterpret_cast<uintptr_t>(mapped), size);
    record->ledger.AddMapping(reinterpret_cast<uintptr_t>(mapped), size);
  }
  return mapped;
}
NEPTUNE_SERT_SYMBOL int munmap(void* at, size_t size) {
  static Next<int(void*, size_t)> next("munmap");
  RequestRecord* const record = neptune::sert::accounting_record;
  if (record == nullptr || record->depth != 0) return next(at, size);
  const Region region(record, __builtin_return_address(0));
  const int result = next(at, size);
  if (result == 0) record->ledger.RemoveMapping(reinterpret_cast<uintptr_t>(at), size);
  return result;
}
