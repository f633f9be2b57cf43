#include "neptune/testing/simulated_nodes.h"

#include <glog/logging.h>

#include <utility>

#include "neptune/service/client.h"

namespace neptune {

SimulatedNodes::SimulatedNodes(SimulatedNodesOptions options)
    : options_(std::move(options)), simulator_(options_.seed, options_.sim) {}

SimWorld& SimulatedNodes::Add(HostOptions host) {
  nodes_[host.name];
  host.boot = [this, name = host.name](World& world) { return Boot(name, world); };
  return simulator_.AddHost(std::move(host));
}

void SimulatedNodes::AddAll(const ClusterSpec& spec, const ProcessorOptions& processors) {
  for (const NodeSpec& node : spec.nodes()) Add({.name = node.name(), .processors = processors});
}

Node* SimulatedNodes::Find(const std::string& name) const {
  const auto found = nodes_.find(name);
  CHECK(found != nodes_.end()) << "no simulated node is named " << name;
  return found->second.lock().get();
}

Node& SimulatedNodes::node(const std::string& name) const {
  Node* const found = Find(name);
  CHECK(found != nullptr) << "the simulated node " << name << " is down";
  return *found;
}

void SimulatedNodes::Spawn(const std::string& name, Body body) {
  Node& where = node(name);
  where.RunOnControl([&where, body = std::move(body)] {
    ClientSession session(where.client());
    body(session);
  });
}

bool SimulatedNodes::Run(const std::string& name, Body body, Duration limit) {
  // Shared, because a body that has not ended by then may end later.
  const auto ended = std::make_shared<bool>(false);
  Spawn(name, [ended, body = std::move(body)](ClientSession& session) {
    body(session);
    *ended = true;
  });
  return simulator_.RunUntilTrue([&] { return *ended; }, simulator_.now() + limit);
}

std::shared_ptr<Node> SimulatedNodes::Boot(const std::string& name, World& world) {
  auto& sim_world = static_cast<SimWorld&>(world);
  NodeOptions options = options_.make_options(name);
  options.name = NodeId(name);
  options.address = sim_world.address();
  // A call to the disk also takes as long as its flushes.
  options.device_time = [of_call = std::move(options.device_time),
                         &disk = sim_world.sim_storage().disk_faults()](std::string_view path) {
    return (of_call ? of_call(path) : Duration(0)) + disk.TakeFlushTime();
  };
  auto node = std::make_shared<Node>(world, std::move(options));
  nodes_[name] = node;
  node->Start([this, name](const Status& status) {
    if (options_.on_start) return options_.on_start(name, status);
    CHECK(status.ok()) << name << ": " << status;
  });
  return node;
}

}  // namespace neptune
