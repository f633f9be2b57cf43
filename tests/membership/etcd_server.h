// An etcd server of a test's own, of one member: on free loopback ports, its data in a folder of
// the test.
//
// Threads: as ServerProcess. Errors: those of ServerProcess.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neptune/base/status.h"
#include "neptune/world/network.h"
#include "tests/clients/server_process.h"

namespace neptune {

class EtcdServer {
 public:
  static StatusOr<std::unique_ptr<EtcdServer>> Start();
  ~EtcdServer();
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;

  Endpoint endpoint() const { return {kLoopbackAddress, port_}; }
  // SIGSTOP hangs it, SIGCONT resumes it.
  void Signal(int signal) const { process_->Signal(signal); }
  // SIGKILL.
  void Kill();
  // Starts at the same address, after Kill.
  Status StartAgain(bool empty);

 private:
  EtcdServer(uint16_t port, uint16_t peer_port);
  static StatusOr<std::unique_ptr<EtcdServer>> StartAt(uint16_t port);
  Status Run();

  const uint16_t port_;
  const uint16_t peer_port_;
  const std::string folder_;
  std::unique_ptr<ServerProcess> process_;
};

}  // namespace neptune
