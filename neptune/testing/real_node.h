// A node in this process with a real world of its own, as in a separate process; for tests,
// benchmarks and tools.
//
// Tests that are made of the runtime's libraries use //neptune/testing:real_node, programs that
// link libneptune.so use //neptune:real_node.
//
// Threads: created, used and destroyed on one plain kernel thread.
// Errors: Start returns the error that prevented the node from starting; StartRealNode ends the
//   program instead.

#pragma once

#include <glog/logging.h>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "neptune/base/notification.h"
#include "neptune/base/status.h"
#include "neptune/node/node.h"
#include "neptune/world/real/real_world.h"

namespace neptune {

class RealNode {
 public:
  explicit RealNode(NodeOptions options, const RealWorldOptions& world = {})
      : world_(MakeRealWorld(world)), node_(*world_, std::move(options)) {}
  // Stops a node that was started, and waits at most two seconds for its calls in flight.
  ~RealNode() {
    if (start_was_called_) {
      Notification stopped;
      node_.Stop(std::chrono::seconds(2), [&] { stopped.Notify(); });
      stopped.WaitForNotification();
    }
    world_->Stop();
  }
  RealNode(const RealNode&) = delete;
  RealNode& operator=(const RealNode&) = delete;

  // Starts the node and waits until it has started. REQUIRES: called once.
  Status Start() {
    start_was_called_ = true;
    Status outcome;
    Notification started;
    node_.Start([&](const Status& status) {
      outcome = status;
      started.Notify();
    });
    started.WaitForNotification();
    return outcome;
  }

  Node& node() { return node_; }
  World& world() { return *world_; }
  // Runs `body` on a user-level thread of the node's control loop, and waits for its end.
  // REQUIRES: the node has started.
  void Run(const std::function<void()>& body) {
    Notification done;
    node_.RunOnControl([&] {
      body();
      done.Notify();
    });
    done.WaitForNotification();
  }

 private:
  const std::unique_ptr<World> world_;
  Node node_;
  bool start_was_called_ = false;
};

// A node that has started.
inline std::unique_ptr<RealNode> StartRealNode(NodeOptions options,
                                               const RealWorldOptions& world = {}) {
  auto node = std::make_unique<RealNode>(std::move(options), world);
  const Status status = node->Start();
  CHECK(status.ok()) << status;
  return node;
}

}  // namespace neptune
