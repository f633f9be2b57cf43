// A node in this process, with kernel threads, sockets and a real world of its own.
//
// Threads: made, used and destroyed on one plain kernel thread.
// Errors: Start returns the error that prevented the node from starting.

#pragma once

#include <functional>
#include <memory>

#include "neptune/base/status.h"
#include "neptune/base/unique_port.h"
#include "neptune/node/node.h"
#include "neptune/world/real/real_world.h"

namespace search::lab {

// Sets a cluster name and a multicast group that are unique on this machine while the port lives.
void SetOwnGroup(const neptune::UniquePort& port, neptune::ClusterSpec* spec);

class RealNode {
 public:
  explicit RealNode(neptune::NodeOptions options, const neptune::RealWorldOptions& world = {})
      : world_(neptune::MakeRealWorld(world)), node_(*world_, std::move(options)) {}
  // Waits at most a second for calls in flight.
  ~RealNode();

  neptune::Status Start();
  neptune::Node& node() { return node_; }
  neptune::World& world() { return *world_; }
  // Runs `body` on a user-level thread of the node, and waits for its end.
  void Run(const std::function<void()>& body);

 private:
  const std::unique_ptr<neptune::World> world_;
  neptune::Node node_;
};

}  // namespace search::lab
