// A small cluster of an example's services for tests, in either world, and a client node.
//
// With a single service, partition p is on node s<p % node_count>; several services are placed by
// the example's own spec. The client node is "client".
//
// Threads: the test's thread; work for the client runs on a user-level thread of its node.
// Errors: a node that does not start, or a body that does not end, fails the test.

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
#include "neptune/testing/real_node.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/world/sim/simulator.h"

namespace neptune::examples {

struct ExampleClusterOptions {
  // Path of the example's spec, from the workspace. Empty: the single service described by the next
  // fields.
  std::string spec_file;
  // Makes the module that the spec calls `name`.
  std::function<std::unique_ptr<ServiceModule>(const std::string& name)> modules;

  std::string service;
  uint32_t partition_count = 1;
  uint32_t node_count = 1;
  std::map<std::string, std::string> parameters;
  std::function<std::unique_ptr<ServiceModule>()> module;

  RegisterOperators register_operators = [](ModuleContext&) {};
  uint64_t seed = 1;  // for the simulated world
};

using ClientBody = std::function<void(ClientSession& session)>;

class SimulatedExample {
 public:
  explicit SimulatedExample(const ExampleClusterOptions& options);

  void RunOnClient(const ClientBody& body);
  Simulator& simulator() { return nodes_.simulator(); }
  Node& node(const std::string& name) { return nodes_.node(name); }

 private:
  const ClusterSpec spec_;
  SimulatedNodes nodes_;
};

class RealExample {
 public:
  explicit RealExample(const ExampleClusterOptions& options);
  ~RealExample();

  void RunOnClient(const ClientBody& body);
  Node& node(const std::string& name);

 private:
  void WaitForPartitions(const ClusterSpec& spec);

  const UniquePort port_;
  std::map<std::string, std::unique_ptr<RealNode>> nodes_;
};

}  // namespace neptune::examples
