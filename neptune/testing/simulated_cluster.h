// Whole nodes on simulated hosts, for tests: one host per node of the spec, including a client.
//
// Threads: the simulation's thread.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "neptune/node/node.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {

// Returns a spec of `node_count` servers s0, s1, ... of service "echo", with `partition_count`
// partitions assigned round robin, and a client node c that hosts a service of its own.
// `echo_fields` are further fields of the service.
ClusterSpec EchoSpec(int node_count, int partition_count, const std::string& echo_fields = "");

// Creates the module "echo"; fails for others.
StatusOr<std::unique_ptr<ServiceModule>> MakeEcho(const std::string& module);

struct SimulatedClusterOptions {
  uint64_t seed = 1;
  ClusterSpec spec;
  ModuleFactory modules = MakeEcho;
  YellowPageOptions yellow_page{};
  std::optional<uint32_t> recheck_one_in{};
  SimOptions sim{};
  // Folder that relative paths of the spec are resolved against on that node; null: paths are
  // unchanged.
  std::function<std::string(const std::string& node)> spec_directory{};
  // Duration of a node's disk calls; null: zero.
  std::function<Duration(const std::string& node)> device_time{};
};

class SimulatedCluster {
 public:
  // Starts every node and waits until they have found each other.
  explicit SimulatedCluster(SimulatedClusterOptions options);
  SimulatedCluster(uint64_t seed, int node_count, int partition_count)
      : SimulatedCluster({.seed = seed, .spec = EchoSpec(node_count, partition_count)}) {}

  Simulator& simulator() { return nodes_.simulator(); }
  // REQUIRES: the node is alive.
  Node& node(const std::string& name) { return nodes_.node(name); }
  bool lives(const std::string& name) const { return nodes_.lives(name); }
  Node& client() { return node("c"); }

  // Uses this spec for nodes that start from now on, and starts nodes that are new in it. The
  // caller must crash nodes that are no longer in it.
  void ChangeSpec(ClusterSpec spec);
  // Starts a node that is expected to fail, and returns the error.
  Status FailedStart(const std::string& name);

  // Runs `body` on a user-level thread of the client node until it ends; fails the test if it does
  // not.
  void RunOnClient(std::function<void(ClientSession&)> body,
                   Duration limit = std::chrono::seconds(60));
  // Starts `body` there and returns.
  void SpawnOnClient(std::function<void(ClientSession&)> body) {
    nodes_.Spawn("c", std::move(body));
  }

  // Returns the nodes that serve the partition of "echo" in the view of `node`.
  std::set<std::string> KnownReplicas(uint32_t partition = 0, const std::string& node = "c");
  // Returns all nodes in the view of `node`.
  std::set<std::string> KnownNodes(const std::string& node = "c");

 private:
  NodeOptions OptionsOf(const std::string& name) const;
  void HandleStart(const std::string& name, const Status& status);

  SimulatedClusterOptions options_;
  std::map<std::string, std::optional<Status>> failures_;  // of nodes expected to fail
  SimulatedNodes nodes_;
};

}  // namespace neptune
