#include "neptune/examples/testing/example_cluster.h"

#include <gtest/gtest.h>

#include <utility>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/real/real_world.h"

#ifdef __SANITIZE_ADDRESS__
// Threads of a simulated host that waits when the simulation ends are not unwound, so what their stacks
// hold is not given back.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:neptune::SimKernel\nleak:neptune::ThreadEntry\n";
}
#endif

namespace neptune::examples {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kClient[] = "client";
constexpr Duration kBodyLimit = seconds(600);  // of virtual time
constexpr Duration kStartLimit = seconds(30);

ClusterSpec SpecOf(const ExampleClusterOptions& options, uint16_t port) {
  std::string text = StrCat("name: 'example-", port, "' multicast_group: '239.192.7.3:", port,
                            "' announce_interval_ms: 200 services { name: '", options.service,
                            "' module: 'example' partition_count: ", options.partition_count);
  for (const auto& [key, value] : options.parameters) {
    StrAppend(&text, " parameters { key: '", key, "' value: '", value, "' }");
  }
  StrAppend(&text, " } services { name: 'asker' module: 'operators' } nodes { name: '", kClient,
            "' hosts { service: 'asker' } }");
  for (uint32_t n = 0; n < options.node_count; ++n) {
    StrAppend(&text, " nodes { name: 's", n, "' hosts { service: '", options.service, "'");
    for (uint32_t p = n; p < options.partition_count; p += options.node_count) {
      StrAppend(&text, " partitions: ", p);
    }
    StrAppend(&text, " } }");
  }
  const StatusOr<ClusterSpec> spec = ParseClusterSpec(text, "test");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return *spec;
}

NodeOptions OptionsOf(const ExampleClusterOptions& options, const ClusterSpec& spec,
                      const std::string& name) {
  NodeOptions node;
  node.spec = spec;
  node.name = NodeId(name);
  node.with_admin = false;
  node.modules = [module = options.module, operators = options.register_operators](
                     const std::string& wanted) -> StatusOr<std::unique_ptr<ServiceModule>> {
    if (wanted == "operators") return std::make_unique<OperatorsModule>(operators);
    return module();
  };
  return node;
}

}  // namespace

SimulatedExample::SimulatedExample(const ExampleClusterOptions& options)
    : spec_(SpecOf(options, 7000)), simulator_(options.seed) {
  for (const NodeSpec& node : spec_.nodes()) {
    HostOptions host;
    host.name = node.name();
    host.boot = [this, options, name = node.name()](World& world) {
      return Boot(options, name, world);
    };
    simulator_.AddHost(std::move(host));
  }
  simulator_.RunFor(milliseconds(500));
}

SimulatedExample::~SimulatedExample() = default;

std::shared_ptr<void> SimulatedExample::Boot(const ExampleClusterOptions& options,
                                             const std::string& name, World& world) {
  NodeOptions node_options = OptionsOf(options, spec_, name);
  node_options.address = static_cast<SimWorld&>(world).address();
  auto node = std::make_shared<Node>(world, std::move(node_options));
  nodes_[name] = node;
  node->Start([name](const Status& status) { EXPECT_TRUE(status.ok()) << name << ": " << status; });
  return node;
}

void SimulatedExample::RunOnClient(const ClientBody& body) {
  bool done = false;
  node(kClient).RunOnControl([&] {
    ClientSession session(node(kClient).client());
    body(session);
    done = true;
  });
  ASSERT_TRUE(simulator_.RunUntilTrue([&] { return done; }, simulator_.now() + kBodyLimit))
      << "seed " << simulator_.seed();
}

// A node with a world of its own, as a process would have it.
struct RealExample::RealNode {
  explicit RealNode(NodeOptions options)
      : world(MakeRealWorld({})), node(*world, std::move(options)) {
    Notification started;
    node.Start([&](const Status& status) {
      EXPECT_TRUE(status.ok()) << status;
      started.Notify();
    });
    started.WaitForNotification();
  }
  ~RealNode() {
    Notification stopped;
    node.Stop(seconds(2), [&] { stopped.Notify(); });
    stopped.WaitForNotification();
    world->Stop();
  }
  const std::unique_ptr<World> world;
  Node node;
};

RealExample::RealExample(const ExampleClusterOptions& options) {
  const ClusterSpec spec = SpecOf(options, port_.number());
  for (const NodeSpec& node : spec.nodes()) {
    nodes_[node.name()] = std::make_unique<RealNode>(OptionsOf(options, spec, node.name()));
  }
  WaitForPartitions(options);
}

RealExample::~RealExample() = default;

Node& RealExample::node(const std::string& name) { return nodes_.at(name)->node; }

void RealExample::WaitForPartitions(const ExampleClusterOptions& options) {
  const ServiceName service(options.service);
  RunOnClient([&](ClientSession& session) {
    const TimePoint limit = this_thread::Now() + kStartLimit;
    for (uint32_t p = 0; p < options.partition_count; ++p) {
      while (session.client().View()->Replicas(service, PartitionId(p)).empty()) {
        ASSERT_LT(this_thread::Now(), limit) << "partition " << p << " is not announced";
        this_thread::SleepFor(milliseconds(5));
      }
    }
  });
}

void RealExample::RunOnClient(const ClientBody& body) {
  Node& client = node(kClient);
  Notification done;
  client.RunOnControl([&] {
    ClientSession session(client.client());
    body(session);
    done.Notify();
  });
  done.WaitForNotification();
}

}  // namespace neptune::examples
