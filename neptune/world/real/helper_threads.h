// The operating system's threads as helper threads.
//
// Threads: as HelperThreads says.
// A thread is started when a task waits and none is idle; idle ones stay.

#pragma once

#include <memory>
#include <string>

#include "neptune/world/helper_threads.h"

namespace neptune {

// `name` is shown by the operating system, cut to its 15 characters. At least one thread; a thread that the system
// refuses is done without as long as another one runs.
std::unique_ptr<HelperThreads> MakeRealHelperThreads(const std::string& name, int count);

}  // namespace neptune
