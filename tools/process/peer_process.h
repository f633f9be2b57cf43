// Programs as processes of their own. For measurements of one peer against another: one of tests/peers that serves on
// one processor, one that asks it on another.
//
// Threads: thread-compatible.
// Units: seconds of processor time as the operating system accounts it, user and system.
// Errors: kNotFound no such program beside this one; kUnavailable it ended, or said something else than it should;
//   kDeadlineExceeded it said nothing for 30 s.
// Limits: a line of at most 4 KiB.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/status.h"

namespace search::lab {

// Where Bazel put a file that this program needs, by its path in the tree: beside this program when that was started by
// its path, in the working directory when Bazel started it.
neptune::StatusOr<std::string> FindProgram(const std::string& name);

class PeerProcess {
 public:
  // Starts `program` ("tests/peers/neptune_echo") on the processor of that index, counted round if there are fewer, and
  // ahead of the machine's other work as far as the system allows; on any and like any other if it is negative.
  // `network`: descriptor of the network namespace that it is to be in; -1: this one's.
  static neptune::StatusOr<std::unique_ptr<PeerProcess>> Start(
      const std::string& program, const std::vector<std::string>& arguments, int processor,
      int network = -1);
  // Ends its input, and the process if it does not end then; waits for it.
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  // The next line of its output, without its end.
  neptune::StatusOr<std::string> ReadLine();
  // Gives it a line; one that has ended gets nothing.
  void WriteLine(std::string line);
  void Signal(int signal) const;
  double ProcessorSeconds() const;

 private:
  PeerProcess(std::string program, pid_t process, int input, int output)
      : program_(std::move(program)), process_(process), input_(input), output_(output) {}

  const std::string program_;
  const pid_t process_;
  const int input_;
  const int output_;
  std::string read_;
};

// What one load program saw, and what it cost the server.
struct PeerLoad {
  double call_count = 0;
  double lost_count = 0;
  double p10_us = 0;
  double p50_us = 0;
  double p99_us = 0;
  double server_processor_s = 0;
};

struct PeerRun {
  std::string server;  // a program
  std::vector<std::string> server_arguments;
  std::string caller;                   // a program
  std::string caller_command = "load";  // or "ping"
  std::vector<std::string> caller_arguments;
};

// Starts both, lets the caller warm up and count, ends both.
neptune::StatusOr<PeerLoad> RunPeers(const PeerRun& run);

}  // namespace search::lab
