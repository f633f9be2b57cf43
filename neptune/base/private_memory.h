// Keeps what a process holds in memory, keys and clients' queries, out of files and other
// processes.
//
// Threads: thread-safe; it changes the whole process, for good.
// Errors: FAILED_PRECONDITION the system refuses.

#pragma once

#include "neptune/base/status.h"

namespace neptune {

// Does what ForbidCoreFiles of secret_file.h does, and forbids other processes of the same user to
// attach to this one and to read its memory through /proc; then profilers and debuggers need root.
Status KeepMemoryPrivate();

}  // namespace neptune
