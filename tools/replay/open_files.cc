#include "tools/replay/open_files.h"

#include <sys/resource.h>

#include <filesystem>
#include <system_error>

namespace search::tools {

void RaiseOpenFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

neptune::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return neptune::OkStatus();
  return neptune::Unavailable("creating folder ", folder, ": ", error.message());
}

}  // namespace search::tools
