// A small cluster of an example's services for its tests, in either world, and a node that asks them.
//
// Of one service partition p is on node s<p % node_count>; several services stand as the example's own spec says. The
// asking node is "client".
//
// Threads: the test's thread; what is run on the client runs on a user-level thread
//   of it. Errors: a node that does not start, and a body that does not end, fail the test.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/unique_port.h"
#include "neptune/examples/client/operators_module.h"
#include "neptune/node/node.h"
#include "neptune/service/client.h"
#include "neptune/world/sim/simulator.h"

namespace neptune::examples {

struct ExampleClusterOptions {
  // The example's spec, as a path from the workspace. Empty: the one service that the next fields say.
  std::string spec_file;
  // Of a spec, by the spec's name.
  std::function<std::unique_ptr<ServiceModule>(const std::string& name)> modules;

  std::string service;
  uint32_t partition_count = 1;
  uint32_t node_count = 1;
  std::map<std::string, std::string> parameters;
  std::function<std::unique_ptr<ServiceModule>()> module;

  RegisterOperators register_operators = [](ModuleContext&) {};
  uint64_t seed = 1;  // of the simulated world
};

using ClientBody = std::function<void(ClientSession& session)>;

class SimulatedExample {
 public:
  explicit SimulatedExample(const ExampleClusterOptions& options);
  ~SimulatedExample();

  void RunOnClient(const ClientBody& body);
  Simulator& simulator() { return simulator_; }
  Node& node(const std::string& name) { return *nodes_.at(name).lock(); }

 private:
  std::shared_ptr<void> Boot(const ExampleClusterOptions& options, const std::string& name,
                             World& world);

  const ClusterSpec spec_;
  std::map<std::string, std::weak_ptr<Node>> nodes_;
  Simulator simulator_;
};

class RealExample {
 public:
  explicit RealExample(const ExampleClusterOptions& options);
  ~RealExample();

  void RunOnClient(const ClientBody& body);
  Node& node(const std::string& name);

 private:
  struct RealNode;
  void WaitForPartitions(const ClusterSpec& spec);

  const UniquePort port_;
  std::map<std::string, std::unique_ptr<RealNode>> nodes_;
};

}  // namespace neptune::examples
