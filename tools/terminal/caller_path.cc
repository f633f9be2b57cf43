#include "tools/terminal/caller_path.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace search::tools {
namespace {

namespace fs = std::filesystem;

std::string Under(const char* variable, std::string_view path) {
  const char* folder = std::getenv(variable);
  std::error_code error;
  const fs::path base = folder != nullptr ? fs::path(folder) : fs::current_path(error);
  return (base / path).lexically_normal().string();
}

}  // namespace

std::string CallerPath(std::string_view path) {
  if (path.empty() || path == "-" || path.starts_with('/')) return std::string(path);
  return Under("BUILD_WORKING_DIRECTORY", path);
}

std::string ProjectPath(std::string_view path) {
  const std::string from_caller = CallerPath(path);
  std::error_code error;
  if (fs::exists(from_caller, error) || path.empty() || path.starts_with('/')) return from_caller;
  const std::string from_root = Under("BUILD_WORKSPACE_DIRECTORY", path);
  return fs::exists(from_root, error) ? from_root : from_caller;
}

std::string ProjectOutputPath(std::string_view path) {
  return Under("BUILD_WORKSPACE_DIRECTORY", path);
}

}  // namespace search::tools
