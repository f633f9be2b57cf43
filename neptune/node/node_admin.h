// A node's administration: the HTTP server on a loop of its own, so that it answers when all other
// loops are busy, with the node's pages and actions.
//
// Threads: Start on a user-level thread of the control loop; pages are answered on the admin loop.
// Errors: Start: the token cannot be read, or the port cannot be opened.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/metrics.h"
#include "neptune/base/status.h"
#include "neptune/base/status_section.h"
#include "neptune/world/network.h"
#include "neptune/world/world.h"

namespace neptune {

class AdminServer;
class HostedServices;
class NodeCapsules;
class NodeSpec;
class Replication;
struct NodeOptions;

class NodeAdmin {
 public:
  // Parts of the node; they outlive this.
  struct Sources {
    World& world;
    const NodeOptions& options;
    const NodeSpec& node;
    MetricsRegistry& metrics;
    const StatusSections& status;
    NodeCapsules& capsules;
    const HostedServices& services;
    const Replication& replication;
    // Reasons why the node is not ready; called on the admin loop.
    std::function<std::vector<std::string>()> readiness;
    // Loops that hang; called on the admin loop.
    std::function<std::vector<std::string>()> health;
    // Makes the network of the port on the admin loop; null: the loop's own.
    std::function<std::unique_ptr<Network>(Loop&)> make_network;
    // Addresses from which nodes of the cluster are announced; called on the admin loop.
    std::function<bool(uint32_t address)> is_member;
  };
  explicit NodeAdmin(Sources sources);
  ~NodeAdmin();

  // Listens at the node's administration port of `address`; returns the endpoint.
  StatusOr<Endpoint> Start(uint32_t address);
  // REQUIRES: Start succeeded.
  Loop& loop() const { return *loop_; }

 private:
  StatusOr<std::string> ReadToken() const;
  void AddCapsulePages();
  void AddServicePages();
  StatusOr<Endpoint> Listen(Loop& loop, const Endpoint& at);

  const Sources sources_;
  Loop* loop_ = nullptr;
  std::unique_ptr<Network> network_;  // null: the loop's own
  std::unique_ptr<AdminServer> server_;
};

}  // namespace neptune
