// The same as threaded_host.h through whole nodes: a client calls a server whose service gives each class its threads.
//
// Source: [Jamjoom04] III. Threads: pure function; several may run in several threads.
// Units: virtual time; responses as the client sees them.
// Errors: those of ParseClusterSpec.

#pragma once

#include <vector>

#include "neptune/base/status.h"
#include "tools/lab/threads/threaded_host.h"

namespace search::lab {

neptune::StatusOr<std::vector<ThreadedOutcome>> RunThreadedNode(const ThreadedRun& run,
                                                                uint64_t seed);

}  // namespace search::lab
