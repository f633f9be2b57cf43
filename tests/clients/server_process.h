// A private server of a test, as a child process that ends with the test.
//
// Threads: created and destroyed on one kernel thread; Signal from any thread.
// Limits: output after start-up is not read; more than a pipe holds (64 KiB) blocks the server.
// Errors: kNotFound the program is not installed; kUnavailable it did not start.

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/descriptor.h"
#include "neptune/base/process.h"
#include "neptune/base/status.h"
#include "neptune/base/unique_port.h"

namespace neptune {

class ServerProcess {
 public:
  // Waits until all texts of `ready` have appeared on stdout or stderr.
  static StatusOr<std::unique_ptr<ServerProcess>> Start(const std::vector<std::string>& command,
                                                        const std::vector<std::string>& ready);
  // SIGSTOP makes the server hang; the call returns once all of its threads have stopped. SIGCONT
  // resumes it.
  void Signal(int signal) const;

 private:
  ServerProcess(Descriptor output, Process process)
      : output_(std::move(output)), process_(std::move(process)) {}
  // Returns false if the server ended instead.
  bool WaitUntilReady(const std::vector<std::string>& ready);

  const Descriptor output_;
  const Process process_;  // killed at its end, even if it is paused
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
