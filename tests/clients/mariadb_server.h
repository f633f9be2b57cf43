// A private MariaDB server of a test: on a free loopback port, without users, its data in a
// temporary folder.
//
// Threads and errors are those of ServerProcess.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neptune/base/status.h"
#include "tests/clients/server_process.h"

namespace neptune {

class MariadbServer {
 public:
  static StatusOr<std::unique_ptr<MariadbServer>> Start();
  ~MariadbServer();
  MariadbServer(const MariadbServer&) = delete;
  MariadbServer& operator=(const MariadbServer&) = delete;

  uint16_t port() const { return port_; }
  void Signal(int signal) const { process_->Signal(signal); }

 private:
  MariadbServer(uint16_t port, std::string folder) : port_(port), folder_(std::move(folder)) {}
  static StatusOr<std::unique_ptr<MariadbServer>> StartAt(uint16_t port);

  const uint16_t port_;
  const std::string folder_;
  std::unique_ptr<ServerProcess> process_;
};

}  // namespace neptune
