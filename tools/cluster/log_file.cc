#include "tools/cluster/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "neptune/base/file.h"

namespace search::tools {

using neptune::Descriptor;
using neptune::Status;

neptune::StatusOr<Descriptor> OpenLog(const std::string& path) {
  Descriptor log(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  if (!log.open()) return neptune::ErrnoStatus(errno, "open", path);
  // A log of an earlier program was for everyone.
  if (fchmod(log.number(), 0640) != 0) return neptune::ErrnoStatus(errno, "set mode of", path);
  return log;
}

Status BoundLog(const std::string& path, uint64_t size_max) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || size <= size_max) return neptune::OkStatus();
  std::filesystem::copy_file(path, path + ".1", std::filesystem::copy_options::overwrite_existing,
                             error);
  if (error) return neptune::Unavailable("copying ", path, ": ", error.message());
  if (truncate(path.c_str(), 0) != 0) return neptune::ErrnoStatus(errno, "cut", path);
  return neptune::OkStatus();
}

}  // namespace search::tools
