// Runs a program with text on its standard input and captures its output, bounded in size and time.
//
// Threads: thread-safe.
// Errors: kDeadlineExceeded; kResourceExhausted printed too much; those of Process::Start. The
//   child has ended when the call returns.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"
#include "tools/terminal/progress.h"

namespace search::tools {

struct ChildOptions {
  std::string folder;  // working directory; empty: this process's
  std::string_view input;
  size_t output_size_max = size_t{16} << 20;
  int64_t time_ms_max = 60'000;
};

struct ChildResult {
  int exit_status = 0;  // 128 + signal if a signal ended it
  std::string output;
  std::string error_output;  // the first 64 KiB
};

neptune::StatusOr<ChildResult> RunChild(const std::vector<std::string>& arguments,
                                        const ChildOptions& options, const NanosecondClock& clock);

}  // namespace search::tools
