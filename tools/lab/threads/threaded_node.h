// The model of threaded_host.h with whole nodes: a client calls a server whose service assigns
// threads to each class.
//
// Source: [Jamjoom04] III.
// Threads: pure function; several may run in several threads.
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
