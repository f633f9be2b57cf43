// A node of a cluster as a separate process, with fault injection.
//
// Threads: thread-compatible.
// Errors: kUnavailable the process did not start or exited on its own.

#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "neptune/base/status.h"

namespace search::chaos {

class ServerProcess {
 public:
  // `arguments` begin with the program. What it prints goes to the end of `log`.
  // `network`: descriptor of the network namespace for the process; -1: that of this process.
  ServerProcess(std::vector<std::string> arguments, std::string log, int network = -1);
  // Kills the process if it is running.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // REQUIRES: the process is not running.
  neptune::Status Start();
  bool lives() const { return process_ > 0; }
  // True if the process exited on its own since it was started.
  bool HasEnded();

  // REQUIRES (all): the process is running. Kill waits for it to exit.
  void Kill();
  void Pause();
  void Resume();
  // Makes its file writes fail from now on.
  neptune::Status StarveOfDisk();

 private:
  const std::vector<std::string> arguments_;
  const std::string log_;
  const int network_;
  pid_t process_ = 0;
};

}  // namespace search::chaos
