// Resolves paths given to a program started by `bazel run`, relative to the user's working
// directory.
//
// Threads: pure function.

#pragma once

#include <cstdlib>
#include <string>

namespace neptune::examples {

inline std::string CallerPath(const std::string& path) {
  const char* const caller = std::getenv("BUILD_WORKING_DIRECTORY");
  return caller == nullptr || path.starts_with('/') ? path : std::string(caller) + "/" + path;
}

}  // namespace neptune::examples
