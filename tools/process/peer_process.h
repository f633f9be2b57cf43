// Programs as separate processes, for measurements of peers: one program of tests/peers serves on
// one processor, another calls it on a second one.
//
// Threads: thread-compatible.
// Units: seconds of processor time, user and system, as the operating system accounts it.
// Errors: kNotFound the program is not in this program's folder; kUnavailable it exited, or its
//   output is not the expected one; kDeadlineExceeded it wrote nothing for 30 s.
// Limits: a line of at most 4 KiB.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/descriptor.h"
#include "neptune/base/process.h"
#include "neptune/base/status.h"

namespace search::lab {

// Path of a file that this program needs, by its path in the source tree: beside this program if
// that was started by its path, in the working directory if Bazel started it.
neptune::StatusOr<std::string> FindProgram(const std::string& name);

class PeerProcess {
 public:
  // Starts `program` ("tests/peers/neptune_echo") on `processor`, modulo their number, with
  // real-time priority if the system permits it; if `processor` is negative, on any and with normal
  // priority. `network` is the descriptor of its network namespace; -1: that of this process.
  static neptune::StatusOr<std::unique_ptr<PeerProcess>> Start(
      const std::string& program, const std::vector<std::string>& arguments, int processor,
      int network = -1);
  // Closes its input, kills the process if it does not exit then, and waits for it.
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  // Returns the next line of its output, without the newline.
  neptune::StatusOr<std::string> ReadLine();
  // Writes a line to its input; does nothing if the process has ended.
  void WriteLine(std::string line);
  void Signal(int signal) const { process_.Signal(signal); }
  double ProcessorSeconds() const;

 private:
  PeerProcess(std::string program, neptune::Process process, neptune::Descriptor input,
              neptune::Descriptor output)
      : program_(std::move(program)),
        process_(std::move(process)),
        input_(std::move(input)),
        output_(std::move(output)) {}

  const std::string program_;
  neptune::Process process_;
  neptune::Descriptor input_;
  const neptune::Descriptor output_;
  std::string read_;
};

// The results of one load program, and the processor time of its server.
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

// Starts both, runs the load with its warm-up, and stops both.
neptune::StatusOr<PeerLoad> RunPeers(const PeerRun& run);

}  // namespace search::lab
