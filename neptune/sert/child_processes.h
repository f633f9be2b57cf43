// Processes at the other end of a stream, as popen makes them, and how they are ended with all that they started.
//
// Source: [Zhou06], "Resource Accounting" (FILE streams).
// Departs from source: the C library's popen tells nobody the process, so this is another: `sh` runs in a process group
//   of its own, and the caller's end of the pipe is closed at an exec, as with mode "e".
// Memory by mmap only.
// Threads: any.
// Errors: errno, as popen and pclose of POSIX say.

#pragma once

#include <sys/types.h>

#include "neptune/sert/resource_ledger.h"

namespace neptune::sert {

// `fd` is the caller's end of the pipe. An id of 0: errno says why not.
struct StartedChild {
  pid_t id = 0;
  int fd = -1;
};
// Runs `command` in a shell whose standard output, or input if not `reads`, is the pipe.
StartedChild StartShell(const char* command, bool reads);

// Whose stream it is, so that whoever closes it may wait for its process. False: no room.
bool NoteChild(const PopenChild& child);
// 0: the stream is nobody's. It is forgotten.
pid_t ForgetChild(const void* stream);

// Waits until the process has ended: its status, or -1 with errno; EINTR a signal came.
int AwaitChild(pid_t id);
// Kills it and its group, and waits. One that was waited for already is left alone: its number may be another's.
void KillChild(pid_t id);

}  // namespace neptune::sert
