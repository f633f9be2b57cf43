#include "neptune/interpose/stream_calls.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <unordered_map>

#include "neptune/interpose/calls.h"
#include "neptune/interpose/descriptor_table.h"
#include "neptune/interpose/shipped_file.h"

namespace neptune::interpose {
namespace {

// Streams with callbacks. Never destroyed, because streams are closed until the process ends.
struct Streams {
  LeafMutex mutex;
  std::unordered_map<const std::FILE*, int> descriptors ABSL_GUARDED_BY(mutex);
};
Streams& AllStreams() {
  static Streams* const streams = new Streams;
  return *streams;
}

// Cookie of a stream.
struct Cookie {
  int fd;
  std::FILE* stream;
};

ssize_t Read(void* cookie, char* data, size_t size) {
  return neptune_read(static_cast<Cookie*>(cookie)->fd, data, size);
}

// Returns 0 on failure.
ssize_t Write(void* cookie, const char* data, size_t size) {
  const ssize_t written = neptune_write(static_cast<Cookie*>(cookie)->fd, data, size);
  return written < 0 ? 0 : written;
}

int Seek(void* cookie, off64_t* offset, int whence) {
  const off64_t reached = lseek64(static_cast<Cookie*>(cookie)->fd, *offset, whence);
  if (reached < 0) return -1;
  *offset = reached;
  return 0;
}

// Flags for fopen's mode; -1: invalid mode.
int FlagsOf(const char* mode) {
  const bool updates = std::strchr(mode, '+') != nullptr;
  const int access = updates ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
  const int more = (std::strchr(mode, 'e') != nullptr ? O_CLOEXEC : 0) |
                   (std::strchr(mode, 'x') != nullptr ? O_EXCL : 0);
  switch (*mode) {
    case 'r':
      return access | more;
    case 'w':
      return access | more | O_CREAT | O_TRUNC;
    case 'a':
      return access | more | O_CREAT | O_APPEND;
    default:
      return -1;
  }
}

int Close(void* opened) {
  const std::unique_ptr<Cookie> cookie(static_cast<Cookie*>(opened));
  {
    LeafLock lock(&AllStreams().mutex);
    AllStreams().descriptors.erase(cookie->stream);
  }
  return neptune_close(cookie->fd);
}

}  // namespace

std::FILE* OpenStream(int fd, const char* mode) {
  if (FindTracked(fd) == nullptr) return RealLibc().fdopen(fd, mode);
  auto cookie = std::make_unique<Cookie>(Cookie{fd, nullptr});
  std::FILE* const stream = fopencookie(cookie.get(), mode, {Read, Write, Seek, Close});
  if (stream == nullptr) return nullptr;
  cookie.release()->stream = stream;
  LeafLock lock(&AllStreams().mutex);
  AllStreams().descriptors[stream] = fd;
  return stream;
}

std::FILE* OpenFileStream(const char* path, const char* mode) {
  const int flags = FlagsOf(mode);
  if (flags < 0 || !IsOnDevice(path)) return RealLibc().fopen64(path, mode);
  const int fd = neptune_openat(AT_FDCWD, path, flags, 0666);
  if (fd < 0) return nullptr;
  std::FILE* const stream = OpenStream(fd, mode);
  if (stream == nullptr) neptune_close(fd);
  return stream;
}

int DescriptorOf(std::FILE* stream) {
  const int error = errno;
  const int fd = RealLibc().fileno(stream);
  if (fd >= 0) return fd;
  LeafLock lock(&AllStreams().mutex);
  const auto found = AllStreams().descriptors.find(stream);
  if (found == AllStreams().descriptors.end()) return fd;
  errno = error;
  return found->second;
}

}  // namespace neptune::interpose
