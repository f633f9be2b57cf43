// A thread-attached process: an unmodified program serves a request while a user-level thread waits for it.
//
//   user-level thread ──► program: arguments, standard input
//        parks             │
//        ◄── standard output, or why there is none: its end, a limit, the deadline, a caller that is gone
//
// The program runs in a process of its own, so what it does to itself harms nothing else: a crash is one
// request's error. The loop's kernel thread goes on with other work meanwhile.
//
// Source: [Chu03] 4.3, footnote 3 (the process executes the request, the thread collects the result).
// Departs from source: a process is not kept for the next request: it is an unmodified program.
// In the real world only, see README.md.
// Threads: AttachedProcesses is thread-safe; Run on a user-level thread of any loop of a real world.
// Errors: kNotFound no such program; kFailedPrecondition it may not be run; kInternal it exited with a status that
//   is not 0, or a signal ended it (the message has the first line of its standard error); kResourceExhausted too
//   many run, or the output is over its limit; kDeadlineExceeded; kCancelled the caller is gone, or the node stops;
//   kUnimplemented in the simulated world. A program that is given up is killed, with what it started, and reaped
//   before Run returns.
// Limits: AttachedProcessLimits.

#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/service/service_module.h"

namespace neptune {

struct AttachedProgram {
  std::string executable;              // a path, or a name that is looked up in PATH
  std::vector<std::string> arguments;  // what follows the program's name
  std::string input;                   // all that it can read from standard input
};

struct AttachedProcessLimits {
  // Programs that run at once; one more is refused. Larger: more memory and processors that others lack.
  // Default: 8, the long requests of a module.
  int running_count_max = 8;
  // Bytes of a program's standard output; one more ends it. Default: 64 MiB, the largest payload.
  size_t output_size_max = 64 << 20;
};

class AttachedProcesses {
 public:
  explicit AttachedProcesses(const AttachedProcessLimits& limits = {}) : limits_(limits) {}

  // Serves `request` with the program: its standard output, once it has exited with status 0.
  StatusOr<std::string> Run(const RequestContext& request, AttachedProgram program);
  // The same on nobody's behalf, until `deadline`.
  StatusOr<std::string> Run(AttachedProgram program, TimePoint deadline);

  int running_count() const { return running_count_; }

 private:
  StatusOr<std::string> Run(AttachedProgram program, TimePoint deadline, IncomingCall* call);

  const AttachedProcessLimits limits_;
  std::atomic<int> running_count_{0};
};

}  // namespace neptune
