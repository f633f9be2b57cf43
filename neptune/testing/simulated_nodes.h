// Whole nodes on the hosts of a simulation: a host boots the node of its name, again after each
// crash.
//
//   SimulatedNodes nodes({.seed = 1, .make_options = [&](const std::string&) {
//                           return NodeOptions{.spec = spec, .modules = MakeModule};
//                         }});
//   nodes.AddAll(spec);
//   nodes.simulator().RunFor(std::chrono::seconds(1));
//   nodes.Run("c", [&](ClientSession& session) { status = Call(session, ...); }, seconds(10));
//
// The destructor crashes all hosts, so what the callbacks and the modules use must live longer.
//
// Threads: the simulation's thread.
// Units: virtual time.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "neptune/node/node.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {

struct SimulatedNodesOptions {
  uint64_t seed = 1;
  SimOptions sim{};
  // Returns the options of the node that is about to boot; its name and address are filled in.
  std::function<NodeOptions(const std::string& name)> make_options;
  // Called with the outcome of each start. Null: a node that does not start ends the process.
  std::function<void(const std::string& name, const Status& status)> on_start{};
};

class SimulatedNodes {
 public:
  using Body = std::function<void(ClientSession& session)>;

  explicit SimulatedNodes(SimulatedNodesOptions options);

  Simulator& simulator() { return simulator_; }
  // Adds a host that boots a node; its boot function is replaced.
  SimWorld& Add(HostOptions host);
  // Adds a host for each node of the spec, in its order.
  void AddAll(const ClusterSpec& spec, const ProcessorOptions& processors = {});

  bool contains(const std::string& name) const { return nodes_.contains(name); }
  // Returns null while the host is down. REQUIRES: the host was added; this applies to every name
  // below.
  Node* Find(const std::string& name) const;
  bool lives(const std::string& name) const { return Find(name) != nullptr; }
  // REQUIRES: the node lives.
  Node& node(const std::string& name) const;

  // Starts `body` on a user-level thread of the node's control loop. REQUIRES: the node lives.
  void Spawn(const std::string& name, Body body);
  // Does the same and runs the simulation until `body` ends. Returns false if it has not ended
  // after `limit`; it continues if the simulation does, or never ends because its host crashed.
  bool Run(const std::string& name, Body body, Duration limit);

 private:
  std::shared_ptr<Node> Boot(const std::string& name, World& world);

  const SimulatedNodesOptions options_;
  std::map<std::string, std::weak_ptr<Node>> nodes_;  // by host; empty before the first boot
  Simulator simulator_;
};

}  // namespace neptune
