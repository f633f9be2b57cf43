// Calls on files whose path a device capsule takes.
//
//   open(path) ──► helper thread opens ──► regular file, folder   its calls run on helper threads
//                                     └──► FIFO, device           parks in its capsule, as a socket
//
// A shipped call owns its bytes: after the capsule's timeout the caller continues without it, and
// the call may still act on the file later. The descriptor's position is then unknown.

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "neptune/capsule/device_call.h"
#include "neptune/interpose/blocking_call.h"
#include "neptune/interpose/call_permit.h"
#include "neptune/interpose/calls.h"
#include "neptune/interpose/shipped_file.h"

namespace neptune::interpose {
namespace {

// Closes the descriptor unless it is released to the program.
struct Opened {
  int fd = -1;
  int error = 0;
  bool parks = false;

  ~Opened() {
    if (fd >= 0) RealLibc().close(fd);
  }
};

// True for FIFOs, terminals and other pollable files; other files are shipped.
bool TellsOfReadiness(int fd) {
  const int poller = RealLibc().epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  const bool tells = epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event) == 0;
  RealLibc().close(poller);
  return tells;
}

// Empty: not known.
std::string AbsolutePath(int folder, const char* path) {
  if (path == nullptr) return {};
  std::string absolute = path;
  if (*path != '/') {
    char base[PATH_MAX];
    if (folder == AT_FDCWD) {
      if (getcwd(base, sizeof(base)) == nullptr) return {};
    } else {
      const std::string link = "/proc/self/fd/" + std::to_string(folder);
      const ssize_t size = readlink(link.c_str(), base, sizeof(base) - 1);
      if (size <= 0) return {};
      base[size] = '\0';
    }
    absolute = std::string(base) + "/" + path;
  }
  return absolute;
}

int OpenOnDevice(CapsuleStack& capsules, const std::string& path, int flags, mode_t mode) {
  const std::string plain = PlainPath(path);
  const OutsideMainPool outside;
  auto opened = RunOnDevice(capsules, plain, [path, flags, mode] {
    auto made = std::make_shared<Opened>();
    made->fd = RealLibc().openat(AT_FDCWD, path.c_str(), flags, mode);
    made->error = errno;
    made->parks = made->fd >= 0 && TellsOfReadiness(made->fd);
    return made;
  });
  if (!opened.ok()) {
    errno = ErrnoOf(opened.status(), true);
    return -1;
  }
  Opened& file = **opened;
  if (file.fd < 0) {
    errno = file.error;
    return -1;
  }
  auto tracked = std::make_shared<OpenFile>();
  tracked->nonblocking = (flags & O_NONBLOCK) != 0;
  tracked->ships = !file.parks;
  auto dependency = std::make_shared<Dependency>();
  dependency->path = plain;
  tracked->SetDependency(std::move(dependency));
  const int fd = std::exchange(file.fd, -1);
  Track(fd, std::move(tracked));
  return fd;
}

}  // namespace

bool IsOnDevice(const char* path) {
  CapsuleStack* const capsules = CapsulesInUse();
  if (capsules == nullptr || ParkingThread() == nullptr) return false;
  const std::string absolute = AbsolutePath(AT_FDCWD, path);
  return !absolute.empty() && capsules->Find(DeviceOperation{PlainPath(absolute)}) != nullptr;
}

std::string PlainPath(std::string_view path) {
  std::string plain;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      plain.erase(std::min(plain.size(), plain.rfind('/')));
      continue;
    }
    plain.append("/").append(name);
  }
  return plain.empty() ? "/" : plain;
}

}  // namespace neptune::interpose

using neptune::interpose::CapsulesInUse;
using neptune::interpose::RealLibc;
using neptune::interpose::ShippedFile;

int neptune_openat(int folder, const char* path, int flags, mode_t mode) {
  neptune::CapsuleStack* const capsules = CapsulesInUse();
  if (capsules != nullptr && neptune::interpose::ParkingThread() != nullptr) {
    const std::string absolute = neptune::interpose::AbsolutePath(folder, path);
    const std::string plain = neptune::interpose::PlainPath(absolute);
    if (!absolute.empty() && capsules->Find(neptune::DeviceOperation{plain}) != nullptr) {
      return neptune::interpose::OpenOnDevice(*capsules, absolute, flags, mode);
    }
  }
  return RealLibc().openat(folder, path, flags, mode);
}

ssize_t neptune_pread(int fd, void* data, size_t size, off64_t offset) {
  const ShippedFile file(fd);
  if (!file.ships()) return RealLibc().pread64(fd, data, size, offset);
  return file.Read(data, size,
                   [=](char* to, size_t most) { return RealLibc().pread64(fd, to, most, offset); });
}

ssize_t neptune_pwrite(int fd, const void* data, size_t size, off64_t offset) {
  const ShippedFile file(fd);
  if (!file.ships()) return RealLibc().pwrite64(fd, data, size, offset);
  return file.Write(data, size, [=](const char* from, size_t count) {
    return RealLibc().pwrite64(fd, from, count, offset);
  });
}

int neptune_fsync(int fd) {
  const ShippedFile file(fd);
  if (!file.ships()) return RealLibc().fsync(fd);
  return static_cast<int>(file.Run([fd] { return RealLibc().fsync(fd); }));
}

int neptune_fdatasync(int fd) {
  const ShippedFile file(fd);
  if (!file.ships()) return RealLibc().fdatasync(fd);
  return static_cast<int>(file.Run([fd] { return RealLibc().fdatasync(fd); }));
}
