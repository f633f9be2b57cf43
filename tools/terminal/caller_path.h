// Resolves paths relative to the caller's folder, also under `bazel run`.
//
// Threads: pure functions of their arguments and the environment.
// `bazel run` changes the working directory and passes on the caller's in BUILD_WORKING_DIRECTORY
// and the source tree's root in BUILD_WORKSPACE_DIRECTORY.

#pragma once

#include <string>
#include <string_view>

namespace search::tools {

// `path` made absolute from the caller's directory. An absolute path and "-" stay; "" stays "".
std::string CallerPath(std::string_view path);

// Path of the project's own file or folder `path`: under the caller's directory if it exists there,
// else under the source tree's root, else as CallerPath gives it.
std::string ProjectPath(std::string_view path);

// `path` under the source tree's root; outside `bazel run`, under the current directory. Used for
// results without an explicit output path.
std::string ProjectOutputPath(std::string_view path);

}  // namespace search::tools
