// Whole nodes on simulated hosts, for tests: one host a node of the spec, and a client among them.
//
// Threads: the simulation's thread.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "neptune/node/node.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {

// `node_count` servers s0, s1, ... of service "echo" in `partition_count` partitions round robin, and a
// client node c that hosts a service of its own. `echo_fields` are further fields of the service.
ClusterSpec EchoSpec(int node_count, int partition_count, const std::string& echo_fields = "");

// Knows the module "echo" only.
StatusOr<std::unique_ptr<ServiceModule>> MakeEcho(const std::string& module);

struct SimulatedClusterOptions {
  uint64_t seed = 1;
  ClusterSpec spec;
  ModuleFactory modules = MakeEcho;
  YellowPageOptions yellow_page{};
  std::optional<uint32_t> recheck_one_in{};
  SimOptions sim{};
  std::set<std::string> waiting_inside{};
  // Where relative paths of the spec start on that node, for instance of its key; null: they stay as they are.
  std::function<std::string(const std::string& node)> spec_directory{};
  // What a node's calls of the disk take; null: no time.
  std::function<Duration(const std::string& node)> device_time{};
};

class SimulatedCluster {
 public:
  // Starts every node and lets them find each other.
  explicit SimulatedCluster(SimulatedClusterOptions options);
  SimulatedCluster(uint64_t seed, int node_count, int partition_count)
      : SimulatedCluster({.seed = seed, .spec = EchoSpec(node_count, partition_count)}) {}

  Simulator& simulator() { return simulator_; }
  // REQUIRES: the node lives.
  Node& node(const std::string& name) { return *nodes_.at(name).lock(); }
  bool lives(const std::string& name) const { return !nodes_.at(name).expired(); }
  Node& client() { return node("c"); }

  // Nodes start with this one from now on; those that are new in it start at once. A node that is no more in it is the
  // caller's to crash.
  void ChangeSpec(ClusterSpec spec);
  // Starts a node that is to fail, and returns why it did.
  Status FailedStart(const std::string& name);

  // Runs `body` on a user-level thread of the client node until it ends; a test failure if it does not.
  void RunOnClient(std::function<void(ClientSession&)> body,
                   Duration limit = std::chrono::seconds(60));
  // Begins `body` there and returns.
  void SpawnOnClient(std::function<void(ClientSession&)> body);

  // The nodes that `node` knows to serve the partition of "echo".
  std::set<std::string> KnownReplicas(uint32_t partition = 0, const std::string& node = "c");
  // The nodes that `node` knows at all.
  std::set<std::string> KnownNodes(const std::string& node = "c");

 private:
  void AddHost(const std::string& name);
  std::shared_ptr<void> Boot(const std::string& name, World& world);

  SimulatedClusterOptions options_;
  std::map<std::string, std::optional<Status>> failures_;  // of nodes that are to fail
  std::map<std::string, std::weak_ptr<Node>> nodes_;
  Simulator simulator_;
};

}  // namespace neptune
