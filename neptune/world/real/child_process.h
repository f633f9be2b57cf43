// A child process on a loop: feeds its input, collects its output and reports its end, without
// blocking.
//
//   Start ─► neptune/base/process.h, in a process group of its own, with three pipes
//        ─► the loop's poller reports events of the pipes and of the process (a pidfd)
//        ─► on_end, once: exit status and output
//
// Descendants that the program leaves running are killed with it, so that none keeps its pipes
// open.
//
// It is compiled into :real_world, because it needs that world's loops. There is no simulated
// counterpart: a program runs in the machine's time and on its processors, which virtual time does
// not include.
// Threads: everything on the loop that called Start. Start takes about a millisecond (the kernel
//   thread waits until the program has been loaded).
// Errors: Start: kUnimplemented the calling thread runs no loop of a real world; kNotFound no such
//   program; kFailedPrecondition it may not be run; kResourceExhausted out of processes,
//   descriptors or memory.
// Limits: ChildProcessOptions. Output over its limit ends the process.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "neptune/base/process.h"
#include "neptune/base/status.h"

namespace neptune {

struct ChildProcessOptions {
  std::string executable;              // a path, or a name that is looked up in PATH
  std::vector<std::string> arguments;  // arguments after the program's name
  std::string input;                   // complete standard input
  // Limit of standard output in bytes. Default: 64 MiB, the largest payload.
  size_t output_size_max = 64 << 20;
  // Leading bytes of standard error that are kept; the rest is read and dropped. Default: 4 KiB.
  size_t error_size_max = 4096;
};

struct ChildProcessEnd : ProcessEnd {
  bool output_over_limit = false;
  std::string output;
  std::string error;
};

class ChildProcess {
 public:
  using OnEnd = absl::AnyInvocable<void(ChildProcessEnd)>;

  // `on_end` is called once, from the loop, after the process has been reaped.
  static StatusOr<std::unique_ptr<ChildProcess>> Start(ChildProcessOptions options, OnEnd on_end);
  // Kills and reaps a running process; `on_end` is not called any more.
  ~ChildProcess();

  // Kills the process and its descendants; `on_end` follows soon. Idempotent.
  void Kill();

 private:
  class Run;
  explicit ChildProcess(std::shared_ptr<Run> run);

  const std::shared_ptr<Run> run_;
};

}  // namespace neptune
