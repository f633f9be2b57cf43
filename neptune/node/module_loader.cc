#include "neptune/node/module_loader.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

StatusOr<std::string> FindLibrary(const std::string& name, const std::vector<std::string>& folders,
                                  const std::string& spec_folder) {
  if (name.find('/') != std::string::npos) {
    return (std::filesystem::path(spec_folder) / name).lexically_normal().string();
  }
  for (const std::string& folder : folders) {
    const std::string path = StrCat(folder, "/", name, ".so");
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path;
  }
  std::string searched;
  for (const std::string& folder : folders) StrAppend(&searched, " ", folder);
  return NotFound("module '", name, "': no ", name, ".so in", searched);
}

// A missing file is left to dlopen, which says so.
Status CheckOwner(const std::string& name, const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return OkStatus();
  if ((file.st_mode & S_IWOTH) != 0) {
    return FailedPrecondition("module '", name, "': everyone may write ", path);
  }
  if (file.st_uid == 0 || file.st_uid == geteuid() || geteuid() == 0) return OkStatus();
  return FailedPrecondition("module '", name, "': ", path,
                            " belongs neither to this user nor to root");
}

}  // namespace

StatusOr<std::unique_ptr<ServiceModule>> LoadModule(const std::string& name,
                                                    const std::vector<std::string>& folders,
                                                    const std::string& spec_folder) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string path, FindLibrary(name, folders, spec_folder));
  NEPTUNE_RETURN_IF_ERROR(CheckOwner(name, path));
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return NotFound("module '", name, "': ", dlerror());
  using VersionFunction = int (*)();
  using CreateFunction = ServiceModule* (*)();
  const auto version =
      reinterpret_cast<VersionFunction>(dlsym(library, "neptune_module_interface_version"));
  const auto create = reinterpret_cast<CreateFunction>(dlsym(library, "neptune_module_create"));
  if (version == nullptr || create == nullptr) {
    return FailedPrecondition("module '", name, "': ", path, " has no module entry points");
  }
  if (version() != kModuleInterfaceVersion) {
    return FailedPrecondition("module '", name, "': built for interface version ", version(),
                              "; this node has ", kModuleInterfaceVersion);
  }
  return std::unique_ptr<ServiceModule>(create());
}

}  // namespace neptune
