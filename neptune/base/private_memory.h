// Keeps what a process holds in memory, keys and clients' queries, out of files and other
// processes.
//
// Threads: thread-safe; both change the whole process, for good.
// Errors: FAILED_PRECONDITION the system refuses.

#pragma once

#include "neptune/base/status.h"

namespace neptune {

// A crash writes no core file, and neither do child processes. Where the system pipes core files to
// a program (core_pattern), that program gets none either.
Status ForbidCoreFiles();

// Also forbids other processes of the same user to attach to this one and to read its memory
// through /proc; then profilers and debuggers need root.
Status KeepMemoryPrivate();

}  // namespace neptune
