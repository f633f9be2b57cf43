// A server program of a test's own, as a child process that ends with the test.
//
// Threads: made and destroyed on one plain kernel thread; Signal from any.
// Limits: what it says after it is ready is read by nobody; more than a pipe holds (64 KiB) stops it.
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
  // Waits until it has said all of `ready`, on either of its outputs.
  static StatusOr<std::unique_ptr<ServerProcess>> Start(const std::vector<std::string>& command,
                                                        const std::vector<std::string>& ready);
  // Ends it, also if it is paused.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // SIGSTOP hangs it, SIGCONT lets it go on.
  void Signal(int signal) const;

 private:
  ServerProcess(pid_t process, int output) : process_(process), output_(output) {}
  // False: it ended instead.
  bool WaitUntilReady(const std::vector<std::string>& ready);

  const pid_t process_;
  const int output_;
};

// What start_at(port) gives, at a port that was free; another process may take it before the server does: tried again.
template <typename StartAt>
auto StartAtFreePort(const StartAt& start_at) {
  constexpr int kAttemptCount = 5;
  for (int attempt = 1;; ++attempt) {
    const uint16_t port = UniquePort().number();  // and no longer taken by us
    auto server = start_at(port);
    if (attempt == kAttemptCount || server.ok() ||
        server.status().code() == StatusCode::kNotFound) {
      return server;
    }
  }
}

// A folder for its files, short enough that the name of a socket file fits: the test's, or else /tmp.
std::string ServerFolder();

}  // namespace neptune
