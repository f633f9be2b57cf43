#include "neptune/examples/testing/example_cluster.h"

#include <glog/logging.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"

namespace neptune::examples {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kClient[] = "client";
constexpr Duration kBodyLimit = seconds(600);  // virtual time
constexpr Duration kStartLimit = seconds(30);

// Returns the spec text of the single service described by the options.
std::string TextOf(const ExampleClusterOptions& options) {
  std::string text =
      StrCat("name: 'example' multicast_group: '239.192.7.3:1' services { name: '", options.service,
             "' module: 'example' partition_count: ", options.partition_count);
  for (const auto& [key, value] : options.parameters) {
    StrAppend(&text, " parameters { key: '", key, "' value: '", value, "' }");
  }
  text += " }";
  for (uint32_t n = 0; n < options.node_count; ++n) {
    StrAppend(&text, " nodes { name: 's", n, "' hosts { service: '", options.service, "'");
    for (uint32_t p = n; p < options.partition_count; p += options.node_count) {
      StrAppend(&text, " partitions: ", p);
    }
    StrAppend(&text, " } }");
  }
  return text;
}

// Returns the spec with the client node added and with a separate multicast group.
ClusterSpec SpecOf(const ExampleClusterOptions& options, uint16_t port) {
  StatusOr<ClusterSpec> parsed = options.spec_file.empty()
                                     ? ParseClusterSpec(TextOf(options), "test")
                                     : LoadClusterSpec(options.spec_file);
  CHECK(parsed.ok()) << parsed.status();
  ClusterSpec& spec = *parsed;
  spec.clear_cluster_key_file();  // its nodes are in this process, and need no file
  spec.set_name(StrCat("example-", port));
  spec.set_multicast_group(StrCat("239.192.7.3:", port));
  spec.set_announce_interval_ms(200);
  ServiceSpec* const asker = spec.add_services();
  asker->set_name("asker");
  asker->set_module("operators");
  NodeSpec* const client = spec.add_nodes();
  client->set_name(kClient);
  client->add_hosts()->set_service(asker->name());
  const Status status = CompleteClusterSpec(&spec);
  CHECK(status.ok()) << status;
  return spec;
}

NodeOptions OptionsOf(const ExampleClusterOptions& options, const ClusterSpec& spec) {
  NodeOptions node;
  node.spec = spec;
  node.spec_directory = std::filesystem::path(options.spec_file).parent_path();
  node.with_admin = false;
  node.modules = [options](const std::string& wanted) -> StatusOr<std::unique_ptr<ServiceModule>> {
    if (wanted == "operators") return std::make_unique<OperatorsModule>(options.register_operators);
    return options.spec_file.empty() ? options.module() : options.modules(wanted);
  };
  return node;
}

}  // namespace

SimulatedExample::SimulatedExample(const ExampleClusterOptions& options)
    : spec_(SpecOf(options, 7000)),
      nodes_({.seed = options.seed, .make_options = [this, options](const std::string&) {
                return OptionsOf(options, spec_);
              }}) {
  nodes_.AddAll(spec_);
  simulator().RunFor(milliseconds(500));
}

void SimulatedExample::RunOnClient(const ClientBody& body) {
  ASSERT_TRUE(nodes_.Run(kClient, body, kBodyLimit)) << "seed " << simulator().seed();
}

RealExample::RealExample(const ExampleClusterOptions& options) {
  const ClusterSpec spec = SpecOf(options, port_.number());
  for (const NodeSpec& node : spec.nodes()) {
    NodeOptions node_options = OptionsOf(options, spec);
    node_options.name = NodeId(node.name());
    nodes_[node.name()] = StartRealNode(std::move(node_options));
  }
  WaitForPartitions(spec);
}

RealExample::~RealExample() = default;

Node& RealExample::node(const std::string& name) { return nodes_.at(name)->node(); }

// Waits for all partitions of the services that the nodes host.
void RealExample::WaitForPartitions(const ClusterSpec& spec) {
  std::map<YellowPageView::ServicePartition, size_t> replicas;
  for (const NodeSpec& node : spec.nodes()) {
    for (const HostedServiceSpec& hosted : node.hosts()) {
      for (const uint32_t partition : hosted.partitions()) {
        ++replicas[{ServiceName(hosted.service()), PartitionId(partition)}];
      }
    }
  }
  RunOnClient([&](ClientSession& session) {
    const TimePoint limit = this_thread::Now() + kStartLimit;
    for (const auto& [where, count] : replicas) {
      while (session.client().View()->Replicas(where.first, where.second).size() < count) {
        ASSERT_LT(this_thread::Now(), limit)
            << "partition " << where.second << " of " << where.first << " is not announced";
        this_thread::SleepFor(milliseconds(5));
      }
    }
  });
}

void RealExample::RunOnClient(const ClientBody& body) {
  nodes_.at(kClient)->Run([&] {
    ClientSession session(node(kClient).client());
    body(session);
  });
}

}  // namespace neptune::examples
