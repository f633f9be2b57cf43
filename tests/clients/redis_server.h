// A private Redis server of a test: on a free loopback port and a socket file, without persistence.
//
// Threads and errors are those of ServerProcess.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neptune/base/status.h"
#include "tests/clients/server_process.h"

namespace neptune {

class RedisServer {
 public:
  static StatusOr<std::unique_ptr<RedisServer>> Start();
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  uint16_t port() const { return port_; }
  const std::string& socket_path() const { return socket_path_; }
  void Signal(int signal) const { process_->Signal(signal); }

 private:
  RedisServer(std::unique_ptr<ServerProcess> process, uint16_t port, std::string socket_path)
      : process_(std::move(process)), port_(port), socket_path_(std::move(socket_path)) {}
  static StatusOr<std::unique_ptr<RedisServer>> StartAt(uint16_t port);

  std::unique_ptr<ServerProcess> process_;
  const uint16_t port_;
  const std::string socket_path_;
};

}  // namespace neptune
