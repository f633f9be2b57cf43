// A node in the real world, with a world of its own as in a separate process; for tests and
// benchmarks.
//
// Threads: created and destroyed on one plain kernel thread.
// Errors: a failed start ends the program.

#pragma once

#include <glog/logging.h>

#include <chrono>
#include <memory>
#include <utility>

#include "neptune/base/notification.h"
#include "neptune/node/node.h"
#include "neptune/world/real/real_world.h"

namespace neptune {

class RealNode {
 public:
  explicit RealNode(NodeOptions options, const RealWorldOptions& world = {})
      : world_(MakeRealWorld(world)), node_(std::make_unique<Node>(*world_, std::move(options))) {
    Notification started;
    node_->Start([&](const Status& status) {
      CHECK(status.ok()) << status;
      started.Notify();
    });
    started.WaitForNotification();
  }
  ~RealNode() {
    Notification stopped;
    node_->Stop(std::chrono::seconds(2), [&] { stopped.Notify(); });
    stopped.WaitForNotification();
    world_->Stop();
  }

  Node& node() { return *node_; }

 private:
  std::unique_ptr<World> world_;
  std::unique_ptr<Node> node_;
};

}  // namespace neptune
