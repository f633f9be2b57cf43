#include "neptune/world/real/posix_log_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "neptune/base/descriptor.h"
#include "neptune/base/file.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/strings.h"
#include "neptune/world/storage.h"

namespace neptune {
namespace {

constexpr char kLockName[] = "LOCK";  // no valid name of a log file
constexpr mode_t kFileMode = 0644;

template <typename Call>
auto RetryInterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

StatusOr<Descriptor> OpenFile(const std::string& path, int flags) {
  const int number =
      RetryInterrupted([&] { return open(path.c_str(), flags | O_CLOEXEC, kFileMode); });
  if (number < 0) return ErrnoStatus(errno, "open", path);
  return Descriptor(number);
}

// The folder's lock; released with its last user.
class FolderLock {
 public:
  static StatusOr<std::shared_ptr<FolderLock>> Take(const std::string& directory) {
    const std::string path = StrCat(directory, "/", kLockName);
    NEPTUNE_ASSIGN_OR_RETURN(Descriptor file, OpenFile(path, O_RDWR | O_CREAT));
    if (RetryInterrupted([&] { return flock(file.number(), LOCK_EX | LOCK_NB); }) == 0) {
      return std::make_shared<FolderLock>(std::move(file));
    }
    if (errno == EWOULDBLOCK) return Unavailable("another process uses the logs in ", directory);
    return ErrnoStatus(errno, "lock", path);
  }
  explicit FolderLock(Descriptor file) : file_(std::move(file)) {}

 private:
  const Descriptor file_;
};

class PosixLogFile : public LogFile {
 public:
  PosixLogFile(std::string path, Descriptor file, std::shared_ptr<FolderLock> lock)
      : path_(std::move(path)), file_(std::move(file)), lock_(std::move(lock)) {}

  StatusOr<uint64_t> Size() const override {
    struct stat info = {};
    if (fstat(file_.number(), &info) != 0) return ErrnoStatus(errno, "stat", path_);
    return static_cast<uint64_t>(info.st_size);
  }

  Status WriteAt(uint64_t offset, std::string_view bytes) override {
    NEPTUNE_RETURN_IF_ERROR(CheckWithin(offset));
    while (!bytes.empty()) {
      const ssize_t written = RetryInterrupted([&] {
        return pwrite(file_.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      });
      if (written < 0) return ErrnoStatus(errno, "write", path_);
      offset += static_cast<uint64_t>(written);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return OkStatus();
  }

  Status Sync() override {
    if (RetryInterrupted([&] { return fdatasync(file_.number()); }) == 0) return OkStatus();
    return ErrnoStatus(errno, "sync", path_);
  }

  StatusOr<std::string> ReadAt(uint64_t offset, size_t size) const override {
    std::string bytes(std::min(size, kLogIoSizeMax), '\0');
    size_t got = 0;
    while (got < bytes.size()) {
      const ssize_t read = RetryInterrupted([&] {
        return pread(file_.number(), bytes.data() + got, bytes.size() - got,
                     static_cast<off_t>(offset + got));
      });
      if (read < 0) return ErrnoStatus(errno, "read", path_);
      if (read == 0) break;
      got += static_cast<size_t>(read);
    }
    bytes.resize(got);
    return bytes;
  }

  Status Truncate(uint64_t size) override {
    NEPTUNE_RETURN_IF_ERROR(CheckWithin(size));
    if (RetryInterrupted([&] { return ftruncate(file_.number(), static_cast<off_t>(size)); }) == 0)
      return OkStatus();
    return ErrnoStatus(errno, "cut", path_);
  }

 private:
  Status CheckWithin(uint64_t offset) const {
    NEPTUNE_ASSIGN_OR_RETURN(const uint64_t size, Size());
    if (offset <= size) return OkStatus();
    return InvalidArgument("log file ", path_, " ends before ", offset);
  }

  const std::string path_;
  const Descriptor file_;
  const std::shared_ptr<FolderLock> lock_;
};

class PosixLogFiles : public LogFiles {
 public:
  explicit PosixLogFiles(std::string directory) : directory_(std::move(directory)) {}

  StatusOr<std::unique_ptr<LogFile>> Open(std::string_view name) override {
    NEPTUNE_RETURN_IF_ERROR(CheckStoreName(name));
    NEPTUNE_ASSIGN_OR_RETURN(std::shared_ptr<FolderLock> lock, Locked());
    const std::string path = StrCat(directory_, "/", name);
    std::error_code error;
    const bool is_new = !std::filesystem::exists(path, error);
    NEPTUNE_ASSIGN_OR_RETURN(Descriptor file, OpenFile(path, O_RDWR | O_CREAT));
    if (is_new) NEPTUNE_RETURN_IF_ERROR(SyncDirectory(directory_));
    return std::make_unique<PosixLogFile>(path, std::move(file), std::move(lock));
  }

  Status Remove(std::string_view name) override {
    NEPTUNE_RETURN_IF_ERROR(CheckStoreName(name));
    NEPTUNE_RETURN_IF_ERROR(Locked().status());
    const std::string path = StrCat(directory_, "/", name);
    if (unlink(path.c_str()) == 0) return SyncDirectory(directory_);
    return errno == ENOENT ? OkStatus() : ErrnoStatus(errno, "remove", path);
  }

  StatusOr<std::vector<std::string>> List() const override {
    NEPTUNE_RETURN_IF_ERROR(Locked().status());
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator entry(directory_, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      std::string name = entry->path().filename();
      if (CheckStoreName(name).ok()) names.push_back(std::move(name));
    }
    if (error) return ErrnoStatus(error.value(), "list", directory_);
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  StatusOr<std::shared_ptr<FolderLock>> Locked() const {
    LeafLock lock(&mutex_);
    if (lock_ != nullptr) return lock_;
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    if (error) return ErrnoStatus(error.value(), "create", directory_);
    NEPTUNE_ASSIGN_OR_RETURN(lock_, FolderLock::Take(directory_));
    const std::filesystem::path parent = std::filesystem::absolute(directory_).parent_path();
    NEPTUNE_RETURN_IF_ERROR(SyncDirectory(parent.string()));
    return lock_;
  }

  const std::string directory_;
  mutable LeafMutex mutex_;
  mutable std::shared_ptr<FolderLock> lock_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<LogFiles> MakePosixLogFiles(std::string directory) {
  return std::make_unique<PosixLogFiles>(std::move(directory));
}

}  // namespace neptune
