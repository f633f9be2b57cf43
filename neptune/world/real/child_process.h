// A child process on a loop: its input is fed, its output collected, its end told, and nothing waits.
//
//   Start ─► posix_spawn, in a process group of its own, with three pipes
//        ─► the loop's poller tells of the pipes and of the process (a pidfd)
//        ─► on_end, once: how it ended and what it wrote
//
// What the program started itself and left behind is killed with it, so that nobody holds its pipes open.
//
// Compiled into :real_world, whose loops it needs; it has no simulated twin: a program
//   of the operating system runs in the machine's time and on its processors, which virtual time does not contain.
// Threads: everything on the loop that Start was called on; starting takes it about a millisecond (the kernel
//   thread waits until the program has been loaded).
// Errors: Start: kUnimplemented the calling thread runs no loop of a real world; kNotFound no such program;
//   kFailedPrecondition it may not be run; kResourceExhausted no more processes, descriptors or memory.
// Limits: ChildProcessOptions. Output over its limit ends the process.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

struct ChildProcessOptions {
  std::string executable;              // a path, or a name that is looked up in PATH
  std::vector<std::string> arguments;  // what follows the program's name
  std::string input;                   // all that it can read from standard input
  // Bytes of standard output. Default: 64 MiB, the largest payload.
  size_t output_size_max = 64 << 20;
  // Bytes kept of standard error, from its beginning; the rest is read and dropped. Default: 4 KiB.
  size_t error_size_max = 4096;
};

struct ChildProcessEnd {
  int exit_status = 0;         // if it exited
  int signal = 0;              // that ended it; 0: it exited
  Duration processor_time{0};  // of it and those that it waited for
  bool output_over_limit = false;
  std::string output;
  std::string error;
};

class ChildProcess {
 public:
  using OnEnd = absl::AnyInvocable<void(ChildProcessEnd)>;

  // `on_end` is called once, from the loop, after the process has been reaped.
  static StatusOr<std::unique_ptr<ChildProcess>> Start(ChildProcessOptions options, OnEnd on_end);
  // A process that still runs is killed and reaped; `on_end` is not called any more.
  ~ChildProcess();

  // Kills it and all that it started; `on_end` follows soon. Idempotent.
  void Kill();

 private:
  class Run;
  explicit ChildProcess(std::shared_ptr<Run> run);

  const std::shared_ptr<Run> run_;
};

}  // namespace neptune
