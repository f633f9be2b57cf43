// A Redis server of a test's own: on a free loopback port and a socket file, keeping nothing on disk.
//
// Source: none. Layer: tests. Threads: made and destroyed on one plain kernel thread; Signal from any.
// Errors: kNotFound no redis-server is installed; kUnavailable it did not start.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "neptune/base/status.h"

namespace neptune {

class RedisServer {
 public:
  static StatusOr<std::unique_ptr<RedisServer>> Start();
  // Ends it, also if it is paused.
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  uint16_t port() const { return port_; }
  const std::string& socket_path() const { return socket_path_; }
  // SIGSTOP hangs it, SIGCONT lets it go on.
  void Signal(int signal) const;

 private:
  RedisServer(pid_t process, int output, uint16_t port, std::string socket_path)
      : process_(process), output_(output), port_(port), socket_path_(std::move(socket_path)) {}
  static StatusOr<std::unique_ptr<RedisServer>> StartAt(uint16_t port);
  // Reads what it says until it is ready. False: it ended instead.
  bool WaitUntilReady();

  const pid_t process_;
  const int output_;
  const uint16_t port_;
  const std::string socket_path_;
};

}  // namespace neptune
