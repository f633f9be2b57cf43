#include "docserver/service/folder_state.h"

#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <system_error>

#include "neptune/base/strings.h"

namespace search::docserver {

std::string FolderState(const std::string& directory) {
  std::set<std::string> files;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    struct stat info = {};
    if (stat(it->path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    files.insert(neptune::StrCat(it->path().filename().string(), " ", info.st_ino, " ",
                                 info.st_size, " ", info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec,
                                 "\n"));
  }
  std::string state;
  for (const std::string& file : files) state += file;
  return state;
}

}  // namespace search::docserver
