#include "index/tier/service/partition_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

using neptune::Status;
using neptune::StatusOr;

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
};

StatusOr<FilesAnswer> ListFiles(const std::string& directory) {
  std::vector<std::pair<std::string, uint64_t>> files;
  std::error_code error;
  std::filesystem::directory_iterator entries(directory, error);
  for (const auto end = std::filesystem::directory_iterator(); !error && entries != end;
       entries.increment(error)) {
    if (entries->symlink_status(error).type() != std::filesystem::file_type::regular) continue;
    const uint64_t size = entries->file_size(error);
    if (!error) files.emplace_back(entries->path().filename().string(), size);
  }
  if (error) return neptune::Unavailable("list ", directory, ": ", error.message());
  if (files.size() > kPartitionFilesMax) {
    return neptune::ResourceExhausted("list ", directory, ": more than ", kPartitionFilesMax,
                                      " files");
  }
  std::sort(files.begin(), files.end());
  FilesAnswer answer;
  for (const auto& [name, size] : files) {
    PartitionFile* const file = answer.add_files();
    file->set_name(name);
    file->set_size(size);
  }
  return answer;
}

StatusOr<FilesAnswer> ReadPart(const std::string& path, uint64_t offset, size_t size_max) {
  const OpenFile file(path);
  if (file.descriptor() < 0) return neptune::ErrnoStatus(errno, "open", path);
  struct stat info = {};
  if (fstat(file.descriptor(), &info) != 0) return neptune::ErrnoStatus(errno, "look up", path);
  if (!S_ISREG(info.st_mode)) return neptune::InvalidArgument(path, ": not a regular file");
  FilesAnswer answer;
  if (offset >= static_cast<uint64_t>(info.st_size)) return answer;
  std::string bytes(std::min(size_max, kFilePartSizeMax), '\0');
  const ssize_t read =
      pread(file.descriptor(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (read < 0) return neptune::ErrnoStatus(errno, "read", path);
  bytes.resize(static_cast<size_t>(read));
  answer.set_bytes(std::move(bytes));
  return answer;
}

}  // namespace

bool IsPlainFileName(std::string_view name) {
  constexpr size_t kNameSizeMax = 100;
  return !name.empty() && name.size() <= kNameSizeMax && name[0] != '.' &&
         name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

StatusOr<FilesAnswer> ReadPartitionFiles(const std::string& directory, const FilesQuery& query) {
  if (query.name().empty()) return ListFiles(directory);
  if (!IsPlainFileName(query.name())) {
    return neptune::InvalidArgument("not the name of a file of a partition");
  }
  return ReadPart(neptune::StrCat(directory, "/", query.name()), query.offset(), query.size_max());
}

}  // namespace search::index
