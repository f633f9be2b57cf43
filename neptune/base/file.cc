#include "neptune/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace neptune {
namespace {

constexpr size_t kReadSize = 64u << 10;

StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
      return StatusCode::kNotFound;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return StatusCode::kResourceExhausted;
    case EACCES:
    case EPERM:
    case EROFS:
    case EEXIST:
    case ENOTDIR:
    case EISDIR:
    case ENOTEMPTY:
      return StatusCode::kFailedPrecondition;
    case EINVAL:
    case ENAMETOOLONG:
      return StatusCode::kInvalidArgument;
    default:
      return StatusCode::kUnavailable;
  }
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  bool valid() const { return number_ >= 0; }
  // Reports errors that the file system defers until close.
  int Close() { return close(std::exchange(number_, -1)); }

 private:
  int number_;
};

template <typename Call>
auto RetryInterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

int OpenForReading(const std::string& path) {
  return RetryInterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); });
}

// Appends up to size_max + 1 bytes, so that the caller can detect an oversized file.
int ReadUpTo(int descriptor, size_t size_max, std::string* out) {
  while (out->size() <= size_max) {
    const size_t old_size = out->size();
    const size_t wanted = std::min(kReadSize, size_max + 1 - old_size);
    out->resize(old_size + wanted);
    const ssize_t got =
        RetryInterrupted([&] { return read(descriptor, out->data() + old_size, wanted); });
    out->resize(old_size + std::max<ssize_t>(got, 0));
    if (got < 0) return errno;
    if (got == 0) return 0;
  }
  return 0;
}

int WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        RetryInterrupted([&] { return write(descriptor, bytes.data(), bytes.size()); });
    if (written < 0) return errno;
    bytes.remove_prefix(written);
  }
  return 0;
}

// Writes, syncs and closes the file, which mkostemp has created for its owner only; `path` is for
// messages.
Status FillFile(int number, std::string_view bytes, FileReaders readers, const std::string& path) {
  Descriptor file(number);
  if (const int error = WriteAll(file.number(), bytes); error != 0) {
    return ErrnoStatus(error, "write", path);
  }
  if (readers == FileReaders::kEveryone && fchmod(file.number(), 0644) != 0) {
    return ErrnoStatus(errno, "set mode of", path);
  }
  if (fsync(file.number()) != 0) return ErrnoStatus(errno, "sync", path);
  if (file.Close() != 0) return ErrnoStatus(errno, "close", path);
  return OkStatus();
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Status ErrnoStatus(int error, std::string_view action, std::string_view path) {
  const std::string text = std::generic_category().message(error);
  return Status(CodeOf(error), StrCat(action, " ", path, ": ", text));
}

StatusOr<std::string> ReadFile(const std::string& path, size_t size_max) {
  Descriptor file(OpenForReading(path));
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  std::string bytes;
  if (const int error = ReadUpTo(file.number(), size_max, &bytes); error != 0) {
    return ErrnoStatus(error, "read", path);
  }
  if (bytes.size() > size_max) {
    return ResourceExhausted("read ", path, ": more than ", size_max, " bytes");
  }
  return bytes;
}

Status WriteFileAtomically(const std::string& path, std::string_view bytes, FileReaders readers) {
  std::string temporary = path + ".XXXXXX";
  const int number = mkostemp(temporary.data(), O_CLOEXEC);
  if (number < 0) return ErrnoStatus(errno, "create temporary file for", path);
  Status status = FillFile(number, bytes, readers, temporary);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = ErrnoStatus(errno, "replace", path);
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  return SyncDirectory(DirectoryOf(path));
}

Status SyncDirectory(const std::string& path) {
  Descriptor directory(
      RetryInterrupted([&] { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!directory.valid()) return ErrnoStatus(errno, "open", path);
  if (fsync(directory.number()) != 0) return ErrnoStatus(errno, "sync", path);
  return OkStatus();
}

}  // namespace neptune
