// Options of the preload library, from environment variables.
//
// Threads: pure functions.
// Errors: kInvalidArgument with the variable's name and the reason.

#pragma once

#include <functional>
#include <string>

#include "neptune/base/status.h"

namespace neptune::interpose {

inline constexpr int kPreloadKernelThreadCountMax = 256;

struct PreloadOptions {
  // NEPTUNE_CAPSULES: the capsule file. Required: without it nothing would be isolated.
  std::string capsule_file;
  // NEPTUNE_KERNEL_THREADS: kernel threads that run the program's threads. Larger: more
  // parallelism, up to the number of processors. Default: the number of processors.
  int kernel_thread_count = 1;
  // NEPTUNE_CAPSULE_STATUS: a file with the state of the capsules, rewritten each second. Empty:
  // none.
  std::string status_file;
};

// `variable` returns the value of an environment variable, or null.
StatusOr<PreloadOptions> ReadPreloadOptions(const std::function<const char*(const char*)>& variable,
                                            int processor_count);

}  // namespace neptune::interpose
