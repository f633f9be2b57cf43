// A child process: a program with chosen standard streams, which is killed and reaped at the latest
// when its owner is destroyed.
//
// Made with vfork, so that the cost does not grow with the caller's memory. The program gets its
// three standard streams and no other descriptor, default signal handlers and no blocked signals.
//
// Rejected: Boost.Process 1.81, whose waits with a time limit handle SIGCHLD of the whole process,
// and whose extensions run allocating code between fork and exec.
// Threads: thread-compatible. Start blocks until the program has been loaded, about a millisecond.
// Errors: Start: kNotFound no such program or folder; kResourceExhausted out of processes,
//   descriptors or memory; kFailedPrecondition it may not be run or a setting was refused.

#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace neptune {

struct ProcessOptions {
  // The program, a path or a name that is looked up in PATH, and its arguments.
  std::vector<std::string> command;
  // Variables "NAME=VALUE" of its environment, in addition to the caller's and in place of those of
  // the same names.
  std::vector<std::string> environment{};
  // Working directory. Empty: the caller's.
  std::string folder{};
  // Descriptors of the standard streams. -1: the caller's.
  int input = -1;
  int output = -1;
  int error = -1;
  // True: it leads a process group, and its descendants are killed when it ends or is killed.
  bool in_own_group = false;
  // True: it gets a signal when the thread that started it ends, SIGKILL by default.
  bool ends_with_caller = false;
  int caller_end_signal = SIGKILL;
  // Descriptor of its network namespace. -1: the caller's.
  int network = -1;
  // The processor it runs on. -1: any.
  int processor = -1;
  // Real-time priority, if the system permits it. 0: the caller's priority.
  int real_time_priority = 0;
};

struct ProcessEnd {
  int exit_status = 0;         // valid if it exited
  int signal = 0;              // signal that ended it; 0: it exited
  Duration processor_time{0};  // used by it and the descendants it waited for
};

class Process {
 public:
  static StatusOr<Process> Start(const ProcessOptions& options);
  Process(Process&& other) noexcept
      : id_(std::exchange(other.id_, 0)), in_own_group_(other.in_own_group_) {}
  Process& operator=(Process&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(in_own_group_, other.in_own_group_);
    return *this;
  }
  // Kills and reaps it if that has not happened.
  ~Process() { (void)Kill(); }

  // False once its end was returned by one of the functions below.
  bool running() const { return id_ > 0; }
  // REQUIRES: running.
  pid_t id() const { return id_; }
  // REQUIRES: running. Sends a signal to the process only.
  void Signal(int signal) const;
  // REQUIRES: running. Sends SIGKILL without waiting for the end.
  void SendKill() const;

  // Reaps it if it has ended. REQUIRES: running.
  std::optional<ProcessEnd> TakeEnd();
  // Waits for its end and reaps it. REQUIRES: running.
  ProcessEnd Wait();
  // Kills it, waits and reaps it. If it is not running, does nothing.
  ProcessEnd Kill();

 private:
  Process(pid_t id, bool in_own_group) : id_(id), in_own_group_(in_own_group) {}
  ProcessEnd Reap();

  pid_t id_ = 0;
  bool in_own_group_ = false;
};

}  // namespace neptune
