// Runs a program of the tree to its end and keeps what it printed.
//
// Threads: blocks; thread-compatible.
// Errors: those of starting the program and of the log file. An exit status is a result.
// Limits: kOutputSizeMax bytes of output are kept; there is no time limit: the program ends with
//   its caller at the latest.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "neptune/base/status.h"

namespace search::tools {

inline constexpr size_t kOutputSizeMax = size_t{4} << 20;

struct ProgramRun {
  int exit_status = 0;  // -1: ended by a signal
  std::string output;   // of both streams
};

// `folder` gets the log file of the program.
neptune::StatusOr<ProgramRun> RunToEnd(const std::vector<std::string>& command,
                                       const std::string& folder);

}  // namespace search::tools
