// A private server of a test, as a child process that ends with the test.
//
// Threads: created and destroyed on one kernel thread; Signal from any thread.
// Limits: output after start-up is not read; more than a pipe holds (64 KiB) blocks the server.
// Errors: kNotFound the program is not installed; kUnavailable it did not start.

#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/unique_port.h"

namespace neptune {

class ServerProcess {
 public:
  // Waits until all texts of `ready` have appeared on stdout or stderr.
  static StatusOr<std::unique_ptr<ServerProcess>> Start(const std::vector<std::string>& command,
                                                        const std::vector<std::string>& ready);
  // Kills the server, even if it is paused.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // SIGSTOP makes the server hang; the call returns once all of its threads have stopped. SIGCONT
  // resumes it.
  void Signal(int signal) const;

 private:
  ServerProcess(pid_t process, int output) : process_(process), output_(output) {}
  // Returns false if the server ended instead.
  bool WaitUntilReady(const std::vector<std::string>& ready);

  const pid_t process_;
  const int output_;
};

// Returns start_at(port) for a free port. Retries, because another process may take the port first.
template <typename StartAt>
auto StartAtFreePort(const StartAt& start_at) {
  constexpr int kAttemptCount = 5;
  for (int attempt = 1;; ++attempt) {
    const uint16_t port = UniquePort().number();  // released before the server starts
    auto server = start_at(port);
    if (attempt == kAttemptCount || server.ok() ||
        server.status().code() == StatusCode::kNotFound) {
      return server;
    }
  }
}

// Folder for the server's files: the test's if its path is short enough for a socket file, else
// /tmp.
std::string ServerFolder();

}  // namespace neptune
