// Measures the dissemination of tasks: forwarded, by a datagram each, by one datagram to all. Real
// nodes with loops of their own in one process, over loopback; an echo's work on each. Process CPU
// is of all nodes together.

#include <benchmark/benchmark.h>
#include <glog/logging.h>

#include <map>
#include <memory>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/dac/dac.h"
#include "neptune/node/echo_module.h"
#include "neptune/node/node.h"
#include "neptune/testing/real_node.h"
#include "neptune/thread/user_thread.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

ClusterSpec SpecOf(int64_t server_count, uint16_t port) {
  std::string text =
      StrCat("name: 'benchmark-", port, "' multicast_group: '239.192.7.4:", port,
             "' services { name: 'echo' module: 'echo' partition_count: ", server_count,
             " } services { name: 'idle' module: 'echo' } ",
             "nodes { name: 'c' hosts { service: 'idle' } } ");
  for (int64_t i = 0; i < server_count; ++i) {
    StrAppend(&text, "nodes { name: 's", i, "' hosts { service: 'echo' partitions: ", i, " } } ");
  }
  const StatusOr<ClusterSpec> spec = ParseClusterSpec(text, "benchmark");
  CHECK(spec.ok()) << spec.status();
  return *spec;
}

void AwaitPartitions(Node& client, size_t count) {
  Notification done;
  client.RunOnControl([&] {
    while (client.client().View()->Partitions(ServiceName("echo")).size() < count) {
      this_thread::SleepFor(std::chrono::milliseconds(1));
    }
    done.Notify();
  });
  done.WaitForNotification();
}

void Aggregations(Node& client, int64_t server_count, DisseminationMode mode, int count) {
  Notification done;
  client.RunOnControl([&] {
    ClientSession session(client.client());
    AggregationRequest request;
    request.service = ServiceName("echo");
    for (int64_t p = 0; p < server_count; ++p) {
      request.partitions.emplace_back(static_cast<uint32_t>(p));
    }
    request.local = MethodName("Sum");
    request.reduce = MethodName("AddNumbers");
    request.dissemination = mode;
    for (int i = 0; i < count; ++i) {
      Data result;
      AggregationReport report;
      request.deadline = this_thread::Now() + std::chrono::seconds(5);
      const Status status = Aggregate(session, request, &result, &report);
      CHECK(status.ok()) << status;
    }
    done.Notify();
  });
  done.WaitForNotification();
}

void BM_Aggregate(benchmark::State& state, DisseminationMode mode) {
  const int64_t server_count = state.range(0);
  const UniquePort port;
  const ClusterSpec spec = SpecOf(server_count, port.number());
  std::map<std::string, std::unique_ptr<RealNode>> nodes;
  for (const NodeSpec& node : spec.nodes()) {
    NodeOptions options;
    options.spec = spec;
    options.name = NodeId(node.name());
    options.with_admin = false;
    options.modules = [](const std::string&) -> StatusOr<std::unique_ptr<ServiceModule>> {
      return std::make_unique<EchoModule>();
    };
    nodes[node.name()] = StartRealNode(std::move(options));
  }
  Node& client = nodes.at("c")->node();
  AwaitPartitions(client, static_cast<size_t>(server_count));
  Aggregations(client, server_count, mode, 300);
  for (auto _ : state) Aggregations(client, server_count, mode, 10);
  state.SetItemsProcessed(state.iterations() * 10);
}
BENCHMARK_CAPTURE(BM_Aggregate, forward, DisseminationMode::kForward)
    ->ArgName("servers")
    ->Arg(4)
    ->Arg(16)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Aggregate, unicast, DisseminationMode::kUnicast)
    ->ArgName("servers")
    ->Arg(4)
    ->Arg(16)
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Aggregate, multicast, DisseminationMode::kMulticast)
    ->ArgName("servers")
    ->Arg(4)
    ->Arg(16)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace
}  // namespace neptune
