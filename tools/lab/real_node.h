// A node of the lab's own process: with kernel threads, sockets and a world of its own.
//
// Source: none. Layer: tools.
// Threads: the caller's waits.
// Errors: Start gives what kept the node from starting.

#pragma once

#include <memory>
#include <string>

#include "neptune/base/status.h"
#include "neptune/node/node.h"
#include "neptune/world/real/real_world.h"

namespace search::lab {

// A cluster name and a multicast group that no other run on this machine has: others hear another group.
void SetOwnGroup(neptune::ClusterSpec* spec);

class RealNode {
 public:
  explicit RealNode(neptune::NodeOptions options)
      : world_(neptune::MakeRealWorld({})), node_(*world_, std::move(options)) {}
  // Waits for at most a second for what is in flight.
  ~RealNode();

  neptune::Status Start();
  neptune::Node& node() { return node_; }

 private:
  const std::unique_ptr<neptune::World> world_;
  neptune::Node node_;
};

}  // namespace search::lab
