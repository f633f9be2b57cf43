// Reads the events of a run from a file.
//
// Threads: pure functions of files.
// Errors: INVALID_ARGUMENT "FILE:LINE: reason".
// Limits: kEventCountMax events, lines of 4,096 bytes.

#pragma once

#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "tools/replay/run_setup.h"

namespace search::tools {

inline constexpr size_t kEventCountMax = 1000;

// Lines "SECONDS<tab>LABEL[<tab>COMMAND]"; skips empty lines and those that begin with '#'.
neptune::StatusOr<std::vector<RunEvent>> ReadEventList(const std::string& path);

}  // namespace search::tools
