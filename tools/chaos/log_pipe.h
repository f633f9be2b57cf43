// A pipe into which a process logs, and a thread that moves what it logs to the end of a file. When
// the pipe is blocked, it is full and nothing is taken from it, as by a collector of logs that
// hangs: a process that writes a line then waits.
//
// Threads: thread-compatible.
// Errors: kResourceExhausted no descriptors; kUnavailable the file cannot be opened, or the pipe
//   cannot be filled.

#pragma once

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "neptune/base/descriptor.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"

namespace search::chaos {

class LogPipe {
 public:
  static neptune::StatusOr<std::unique_ptr<LogPipe>> Make(const std::string& file);
  // Moves what is in the pipe, and ends.
  ~LogPipe();
  LogPipe(const LogPipe&) = delete;
  LogPipe& operator=(const LogPipe&) = delete;

  // What processes write to.
  int descriptor() const { return pipe_.writing.number(); }
  // Fills the pipe with empty lines. REQUIRES: it is not blocked.
  neptune::Status Block();
  void Unblock();

 private:
  LogPipe(neptune::Pipe pipe, neptune::Pipe wake, neptune::Descriptor file)
      : pipe_(std::move(pipe)),
        wake_(std::move(wake)),
        file_(std::move(file)),
        thread_([this] { Move(); }) {}
  void Move();
  // Moves what is there; returns false if the pipe is blocked.
  bool MoveOnce();

  const neptune::Pipe pipe_;
  neptune::Pipe wake_;  // closed to end the thread
  const neptune::Descriptor file_;
  neptune::LeafMutex mutex_;
  bool blocked_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace search::chaos
