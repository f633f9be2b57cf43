// The operating system's sockets on one loop; internal to world/real.
//
// Threads: the loop's own.

#pragma once

#include <memory>

#include "neptune/world/network.h"

namespace neptune {

class RealLoop;

class RealNetwork final : public Network {
 public:
  explicit RealNetwork(RealLoop& loop) : loop_(loop) {}

  StatusOr<std::unique_ptr<Listener>> Listen(const Endpoint& at, const ListenOptions& options,
                                             AcceptHandler on_accept) override;
  void Connect(const Endpoint& to, TimePoint deadline, ConnectHandler on_done) override;
  StatusOr<std::unique_ptr<DatagramSocket>> OpenDatagram(const DatagramOptions& options,
                                                         DatagramHandler on_datagram) override;

 private:
  RealLoop& loop_;
};

}  // namespace neptune
