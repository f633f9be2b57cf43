#include "neptune/testing/simulated_cluster.h"

#include <gtest/gtest.h>

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/dac/aggregator_options.h"
#include "neptune/node/echo_module.h"

namespace neptune {

ClusterSpec EchoSpec(int node_count, int partition_count, const std::string& echo_fields) {
  std::string text =
      StrCat("name: 'test' multicast_group: '239.192.7.1:7400' announce_interval_ms: 1000 ",
             "services { name: 'echo' module: 'echo' partition_count: ", partition_count, " ",
             echo_fields, " } ", "services { name: 'idle' module: 'echo' } ",
             "nodes { name: 'c' hosts { service: 'idle' } } ");
  for (int i = 0; i < node_count; ++i) {
    StrAppend(&text, "nodes { name: 's", i,
              "' hosts { service: 'echo' partitions: ", i % partition_count, " } } ");
  }
  const StatusOr<ClusterSpec> spec = ParseClusterSpec(text, "test");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return *spec;
}

StatusOr<std::unique_ptr<ServiceModule>> MakeEcho(const std::string& module) {
  if (module != "echo") return NotFound("no module '", module, "'");
  return std::make_unique<EchoModule>();
}

SimulatedCluster::SimulatedCluster(SimulatedClusterOptions options)
    : options_(std::move(options)),
      nodes_({.seed = options_.seed,
              .sim = options_.sim,
              .make_options = [this](const std::string& name) { return OptionsOf(name); },
              .on_start = [this](const std::string& name,
                                 const Status& status) { HandleStart(name, status); }}) {
  nodes_.AddAll(options_.spec);
  simulator().RunFor(std::chrono::milliseconds(500));
}

void SimulatedCluster::ChangeSpec(ClusterSpec spec) {
  options_.spec = std::move(spec);
  for (const NodeSpec& node : options_.spec.nodes()) {
    if (!nodes_.contains(node.name())) nodes_.Add({.name = node.name()});
  }
}

Status SimulatedCluster::FailedStart(const std::string& name) {
  failures_[name];
  simulator().Restart(name);
  simulator().RunFor(std::chrono::seconds(1));
  const std::optional<Status> failure = failures_.extract(name).mapped();
  simulator().Crash(name);
  return failure.value_or(OkStatus());
}

NodeOptions SimulatedCluster::OptionsOf(const std::string& name) const {
  NodeOptions options;
  options.spec = options_.spec;
  options.modules = options_.modules;
  options.yellow_page = options_.yellow_page;
  if (options_.recheck_one_in) {
    options.adjust_aggregations = [one_in = *options_.recheck_one_in](AggregatorOptions* made) {
      made->recheck_one_in = one_in;
    };
  }
  if (options_.spec_directory) options.spec_directory = options_.spec_directory(name);
  if (options_.device_time) {
    options.device_time = [this, name](std::string_view) { return options_.device_time(name); };
  }
  return options;
}

void SimulatedCluster::HandleStart(const std::string& name, const Status& status) {
  const auto failure = failures_.find(name);
  if (failure != failures_.end()) {
    failure->second = status;
  } else {
    EXPECT_TRUE(status.ok()) << name << ": " << status;
  }
}

void SimulatedCluster::RunOnClient(std::function<void(ClientSession&)> body, Duration limit) {
  ASSERT_TRUE(nodes_.Run("c", std::move(body), limit)) << "seed " << simulator().seed();
}

std::set<std::string> SimulatedCluster::KnownReplicas(uint32_t partition,
                                                      const std::string& of_node) {
  std::set<std::string> names;
  const auto view = node(of_node).View();
  for (const Replica& replica : view->Replicas(ServiceName("echo"), PartitionId(partition))) {
    names.insert(replica.node.value());
  }
  return names;
}

std::set<std::string> SimulatedCluster::KnownNodes(const std::string& of_node) {
  std::set<std::string> names;
  for (const auto& said : node(of_node).View()->nodes()) names.insert(said->node.value());
  return names;
}

}  // namespace neptune
