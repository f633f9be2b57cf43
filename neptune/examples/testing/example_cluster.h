// A small cluster of one example's service for its tests, in either world, and a node that asks it.
//
// Partition p is on node s<p % node_count>; the asking node is "client".
//
// Source: none. Layer: examples. Threads: the test's thread; what is run on the client runs on a user-level thread
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
  std::string service;
  uint32_t partition_count = 1;
  uint32_t node_count = 1;
  std::map<std::string, std::string> parameters;
  std::function<std::unique_ptr<ServiceModule>()> module;
  RegisterOperators register_operators;
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
  void WaitForPartitions(const ExampleClusterOptions& options);

  const UniquePort port_;
  std::map<std::string, std::unique_ptr<RealNode>> nodes_;
};

}  // namespace neptune::examples
