#include "neptune/membership/announcement_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/membership/announcement.h"
#include "neptune/membership/directory_metrics.h"

namespace neptune {
namespace {

constexpr std::string_view kEnding = ".node";
constexpr std::string_view kDirectoryKind = "file:";

bool MayStandInPath(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || byte == '/' || byte == '-' || byte == '_' || byte == '.';
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

 private:
  const int number_;
};

enum class Found { kNothing, kRefused, kAnnouncement };

// Never blocks, even if the name is that of a pipe, a device or a symbolic link.
Found Read(const std::string& path, std::string* bytes) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.number() < 0) return errno == ENOENT ? Found::kNothing : Found::kRefused;
  struct stat about {};
  if (fstat(file.number(), &about) != 0 || !S_ISREG(about.st_mode)) return Found::kRefused;
  bytes->resize(kAnnouncementSizeMax + 1);
  const ssize_t size = read(file.number(), bytes->data(), bytes->size());
  if (size <= 0 || static_cast<size_t>(size) > kAnnouncementSizeMax) return Found::kRefused;
  bytes->resize(static_cast<size_t>(size));
  return Found::kAnnouncement;
}

}  // namespace

StatusOr<std::string> FolderOfDirectory(std::string_view directory) {
  const bool is_named_so = directory.starts_with(kDirectoryKind) &&
                           directory.substr(kDirectoryKind.size()).starts_with('/');
  const std::string_view path = is_named_so ? directory.substr(kDirectoryKind.size()) : "";
  if (!path.empty() && std::all_of(path.begin(), path.end(), MayStandInPath)) {
    return std::string(path);
  }
  return InvalidArgument("the directory '", directory,
                         "' is not file:/absolute/path of letters, digits, '/', '-', '_' and '.'");
}

Status AnnouncementFolder::MakeFolder() const {
  if (mkdir(path_.c_str(), 0755) == 0) return OkStatus();
  if (errno != EEXIST) return ErrnoStatus(errno, "making the folder", path_);
  // One that another user has put there, for example in /tmp, is not ours: he could remove the
  // nodes' files and write others.
  struct stat folder {};
  if (lstat(path_.c_str(), &folder) != 0) return ErrnoStatus(errno, "looking up the folder", path_);
  if (!S_ISDIR(folder.st_mode)) return FailedPrecondition(path_, " is not a folder");
  if (folder.st_uid != geteuid() && folder.st_uid != 0) {
    return FailedPrecondition("the folder ", path_, " belongs neither to this user nor to root");
  }
  if ((folder.st_mode & S_IWOTH) != 0) {
    return FailedPrecondition("everyone may write the folder ", path_);
  }
  return OkStatus();
}

StatusOr<std::vector<std::string>> AnnouncementFolder::Names() const {
  std::error_code error;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entry(path_, error);
  size_t listed_count = 0;
  for (; !error && entry != std::filesystem::directory_iterator() &&
         listed_count < kDirectoryEntryCountMax;
       entry.increment(error), ++listed_count) {
    std::string name = entry->path().filename().string();
    if (name.ends_with(kEnding)) names.push_back(std::move(name));
  }
  if (error) return ErrnoStatus(error.value(), "listing the folder", path_);
  std::sort(names.begin(), names.end());
  return names;
}

StatusOr<FolderNews> AnnouncementFolder::Poll() {
  NEPTUNE_RETURN_IF_ERROR(MakeFolder());
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<std::string> names, Names());
  // Contents of removed files are remembered, so that an old file that reappears is not news.
  if (seen_.size() > 2 * kDirectoryEntryCountMax) {
    seen_.clear();
    has_looked_ = false;
  }
  FolderNews news;
  std::string bytes;
  for (const std::string& name : names) {
    const Found found = Read(StrCat(path_, "/", name), &bytes);
    if (found == Found::kRefused) ++news.refused_count;
    if (found != Found::kAnnouncement) continue;
    std::string& seen = seen_[name];
    if (seen == bytes) continue;
    seen = bytes;
    if (has_looked_) news.contents.push_back(bytes);
  }
  has_looked_ = true;
  return news;
}

Status AnnouncementFolder::Write(const std::string& node, std::string_view bytes) const {
  const std::string path = StrCat(path_, "/", node, kEnding);
  const std::string next = StrCat(path_, "/", node, ".new");
  NEPTUNE_RETURN_IF_ERROR(MakeFolder());
  {
    const Descriptor file(open(
        next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644));
    if (file.number() < 0) return ErrnoStatus(errno, "writing", next);
    const ssize_t size = write(file.number(), bytes.data(), bytes.size());
    if (size < 0) return ErrnoStatus(errno, "writing", next);
    if (static_cast<size_t>(size) != bytes.size()) return ErrnoStatus(ENOSPC, "writing", next);
  }
  if (std::rename(next.c_str(), path.c_str()) != 0) return ErrnoStatus(errno, "replacing", path);
  return OkStatus();
}

}  // namespace neptune
