// A node of a cluster as a separate process, with fault injection.
//
// Threads: thread-compatible.
// Errors: Start: those of Process::Start; kUnavailable its log cannot be opened.

#pragma once

#include <signal.h>

#include <optional>
#include <string>
#include <vector>

#include "neptune/base/process.h"
#include "neptune/base/status.h"

namespace search::chaos {

class ServerProcess {
 public:
  // `arguments` begin with the program. What it prints goes to the end of `log`.
  // `network`: descriptor of the network namespace for the process; -1: that of this process.
  ServerProcess(std::vector<std::string> arguments, std::string log, int network = -1);
  // REQUIRES: the process is not running.
  neptune::Status Start();
  bool lives() const { return process_.has_value(); }
  // True if the process exited on its own since it was started.
  bool HasEnded();

  // REQUIRES (all): the process is running. Kill waits for it to exit.
  void Kill() { process_.reset(); }
  void Pause() { process_->Signal(SIGSTOP); }
  void Resume() { process_->Signal(SIGCONT); }
  // Makes its file writes fail from now on.
  neptune::Status StarveOfDisk();

 private:
  const std::vector<std::string> arguments_;
  const std::string log_;
  const int network_;
  std::optional<neptune::Process> process_;  // unset: it is not running; its end kills it
};

}  // namespace search::chaos
