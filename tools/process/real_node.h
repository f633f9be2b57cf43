// A node of the lab's own process: with kernel threads, sockets and a world of its own.
//
// Threads: made, used and destroyed on one plain kernel thread.
// Errors: Start gives what kept the node from starting.

#pragma once

#include <functional>
#include <memory>

#include "neptune/base/status.h"
#include "neptune/base/unique_port.h"
#include "neptune/node/node.h"
#include "neptune/world/real/real_world.h"

namespace search::lab {

// A cluster name and a multicast group that no other run on this machine has while the port lives.
void SetOwnGroup(const neptune::UniquePort& port, neptune::ClusterSpec* spec);

class RealNode {
 public:
  explicit RealNode(neptune::NodeOptions options, const neptune::RealWorldOptions& world = {})
      : world_(neptune::MakeRealWorld(world)), node_(*world_, std::move(options)) {}
  // Waits for at most a second for what is in flight.
  ~RealNode();

  neptune::Status Start();
  neptune::Node& node() { return node_; }
  neptune::World& world() { return *world_; }
  // Runs it on a user-level thread of the node, and waits for its end.
  void Run(const std::function<void()>& body);

 private:
  const std::unique_ptr<neptune::World> world_;
  neptune::Node node_;
};

}  // namespace search::lab
