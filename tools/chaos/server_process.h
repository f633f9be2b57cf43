// A node of a cluster as a process of its own, to which bad things are done.
//
// Threads: thread-compatible.
// Errors: kUnavailable the process did not start or ended by itself.

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
  // Kills it if it lives.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // REQUIRES: it does not live.
  neptune::Status Start();
  bool lives() const { return process_ > 0; }
  // Whether it ended by itself since it was started.
  bool HasEnded();

  // REQUIRES for all: it lives. Kill waits for its end.
  void Kill();
  void Pause();
  void Resume();
  // Its writes to files fail from now on.
  neptune::Status StarveOfDisk();

 private:
  const std::vector<std::string> arguments_;
  const std::string log_;
  const int network_;
  pid_t process_ = 0;
};

}  // namespace search::chaos
