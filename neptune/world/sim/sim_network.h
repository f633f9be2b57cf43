// A loop's Network in the simulated world: a thin adapter over the shared NetworkModel.
//
// Threads: the simulation's thread.
// Limits: see network.h; a datagram above kDatagramSizeMax is refused.

#pragma once

#include <memory>

#include "neptune/world/network.h"
#include "neptune/world/sim/network_model.h"

namespace neptune {

class SimNetwork : public Network {
 public:
  SimNetwork(NetworkModel& model, LoopState& loop) : model_(model), loop_(loop) {}

  StatusOr<std::unique_ptr<Listener>> Listen(const Endpoint& at, const ListenOptions& options,
                                             AcceptHandler on_accept) override;
  void Connect(const Endpoint& to, TimePoint deadline, ConnectHandler on_done) override;
  StatusOr<std::unique_ptr<DatagramSocket>> OpenDatagram(const DatagramOptions& options,
                                                         DatagramHandler on_datagram) override;

 private:
  NetworkModel& model_;
  LoopState& loop_;
};

}  // namespace neptune
