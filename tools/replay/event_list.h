// The events of a run from a file, and what a run needs of the machine.
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

// Lines "SECONDS<tab>LABEL[<tab>COMMAND]"; empty ones and those that begin with '#' are left out.
neptune::StatusOr<std::vector<RunEvent>> ReadEventList(const std::string& path);

}  // namespace search::tools
