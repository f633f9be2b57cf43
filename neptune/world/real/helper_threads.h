// Helper threads on kernel threads.
//
// Threads: see HelperThreads.
// A thread is started when a task waits and none is idle; idle threads are kept.

#pragma once

#include <memory>
#include <string>

#include "neptune/world/helper_threads.h"

namespace neptune {

// `name` is shown by the operating system, cut to its 15 characters. If the system refuses to start
// a thread, the pool continues with those that run; it needs at least one.
std::unique_ptr<HelperThreads> MakeRealHelperThreads(const std::string& name, int count);

}  // namespace neptune
