// What the environment tells the preload library.
//
// Threads: pure functions.
// Errors: kInvalidArgument with the variable's name and what is wrong.

#pragma once

#include <functional>
#include <string>

#include "neptune/base/status.h"

namespace neptune::interpose {

inline constexpr int kPreloadKernelThreadCountMax = 256;

struct PreloadOptions {
  // NEPTUNE_CAPSULES: the capsule file. Needed: without it nothing would be isolated.
  std::string capsule_file;
  // NEPTUNE_KERNEL_THREADS: kernel threads that run the program's threads. Larger: more of them run at once, up to the
  // number of processors. Default: that number.
  int kernel_thread_count = 1;
  // NEPTUNE_CAPSULE_STATUS: a file that tells what goes on in the capsules, written anew each second. Empty: none.
  std::string status_file;
};

// `variable` gives the value of an environment variable, or null.
StatusOr<PreloadOptions> ReadPreloadOptions(const std::function<const char*(const char*)>& variable,
                                            int processor_count);

}  // namespace neptune::interpose
