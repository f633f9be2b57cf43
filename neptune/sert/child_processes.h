// Processes started by popen, and their termination together with their descendants.
//
// Source: [Zhou06], "Resource Accounting" (FILE streams).
// Departs from source: reimplements popen, because the C library's does not expose the process id.
//   `sh` runs in a process group of its own, and the caller's end of the pipe is closed on exec, as
//   with mode "e".
// Allocates with mmap only.
// Threads: any.
// Errors: errno, as for popen and pclose of POSIX.

#pragma once

#include <sys/types.h>

#include "neptune/sert/resource_ledger.h"

namespace neptune::sert {

// `fd` is the caller's end of the pipe. An id of 0 means failure; errno has the error.
struct StartedChild {
  pid_t id = 0;
  int fd = -1;
};
// Runs `command` in a shell; the pipe is its standard output if `reads`, else its standard input.
StartedChild StartShell(const char* command, bool reads);

// Registers a child with its stream, so that closing the stream can wait for the process. False: no
// space.
bool NoteChild(const PipedChild& child);
// Unregisters the stream and returns its process, or 0 if it has none.
pid_t ForgetChild(const void* stream);

// Waits until the process has ended; returns its status, or -1 with errno (EINTR: interrupted by a
// signal).
int AwaitChild(pid_t id);
// Kills the process and its group, and waits. Does nothing if the process was already waited for,
// because its id may have been reused.
void KillChild(pid_t id);

}  // namespace neptune::sert
