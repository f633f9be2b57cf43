// A thread-attached process: an unmodified program serves a request while a user-level thread
// waits.
//
//   user-level thread ──► program: arguments, standard input
//        parks             │
//        ◄── standard output, or an error: exit status, limit, deadline, caller gone
//
// The program runs in a process of its own, so a crash is an error of one request only. Meanwhile
// the loop's kernel thread runs other work. Available in the real world only, see README.md.
//
// A program that is abandoned is killed together with its descendants, and reaped before Run
// returns.
//
// Source: [Chu03] 4.3, footnote 3 (the process executes the request, the thread collects the
//   result).
// Departs from source: a process is not kept for the next request, because the program is
//   unmodified.
// Threads: AttachedProcesses is thread-safe; Run on a user-level thread of any loop of a real
//   world.
// Errors: kNotFound no such program; kFailedPrecondition no permission to run it; kInternal a
//   non-zero exit status, or killed by a signal (the message has the first line of its standard
//   error); kResourceExhausted too many programs run, or the output exceeds its limit;
//   kDeadlineExceeded; kCancelled the caller is gone, or the node stops; kUnimplemented in the
//   simulated world.
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
  std::vector<std::string> arguments;  // without argv[0]
  std::string input;                   // its whole standard input
};

struct AttachedProcessLimits {
  // Maximum number of programs that run at once; further ones are refused. Larger: more memory and
  // processor time is taken from other services. Default: 8, the pool size of a module.
  int running_count_max = 8;
  // Maximum size of a program's standard output in bytes; a program that exceeds it is killed.
  // Default: 64 MiB, the largest payload.
  size_t output_size_max = 64 << 20;
};

class AttachedProcesses {
 public:
  explicit AttachedProcesses(const AttachedProcessLimits& limits = {}) : limits_(limits) {}

  // Serves `request` with the program; returns its standard output after it exits with status 0.
  StatusOr<std::string> Run(const RequestContext& request, AttachedProgram program);
  // The same without a request; the program is killed at `deadline`.
  StatusOr<std::string> Run(AttachedProgram program, TimePoint deadline);

  int running_count() const { return running_count_; }

 private:
  StatusOr<std::string> Run(AttachedProgram program, TimePoint deadline, IncomingCall* call);

  const AttachedProcessLimits limits_;
  std::atomic<int> running_count_{0};
};

}  // namespace neptune
