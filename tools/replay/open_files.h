// Prepares a run: descriptors for its connections, a folder for its files.
//
// Threads: any.
// Errors: MakeFolder: UNAVAILABLE names the folder.

#pragma once

#include <string>

#include "neptune/base/status.h"

namespace search::tools {

// Raises this process's limit of open files to the hard limit.
void RaiseOpenFileLimit();

neptune::Status MakeFolder(const std::string& folder);

}  // namespace search::tools
