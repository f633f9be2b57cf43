// Nodes with many partitions, whose idle ones rest, on a simulated cluster.

#include <gtest/gtest.h>

#include "neptune/base/strings.h"
#include "neptune/replication/agent/replication.h"
#include "neptune/world/sim/sim_world.h"
#include "tests/runtime/replicated_registers.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint32_t kPartitionCount = 48;
static_assert(kPartitionCount > kAwakeReplicaCountMax);

class ManyPartitionsTest : public ReplicatedRegistersTest {
 protected:
  void StartMany(const std::string& fields, uint64_t seed = 1) {
    SimulatedClusterOptions options;
    options.seed = seed;
    options.spec = RegisterSpec({"s0", "s1", "s2"}, fields);
    options.spec.mutable_services(0)->set_partition_count(kPartitionCount);
    for (auto& node : *options.spec.mutable_nodes()) {
      auto& hosted = *node.mutable_hosts(0);
      if (hosted.service() != "registers") continue;
      hosted.clear_partitions();
      for (uint32_t p = 0; p < kPartitionCount; ++p) hosted.add_partitions(p);
    }
    options.modules = MakeModules;
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
    simulator().RunFor(seconds(5));
  }
  std::shared_ptr<ReplicaAgent> AgentOf(const std::string& node, uint32_t partition) {
    return cluster_->node(node).replication().Find(kRegisters, PartitionId(partition));
  }
  double CallsOf(const std::string& node, const char* method) {
    return cluster_->node(node)
        .metrics()
        .Value("neptune_calls_total",
               {{"service", kReplicationService}, {"method", method}, {"outcome", "ok"}})
        .value_or(0);
  }
  // Calls of its logs that took the device.
  uint64_t LogCallsOf(const std::string& node) {
    const auto capsule = cluster_->node(node).capsules().Named("replication-log");
    return capsule == nullptr ? 0 : capsule->Count().control.entered;
  }
  // True if the data of the replica count as that old, or its lease ended that long ago.
  bool HasRested(const std::string& node, uint32_t partition, Duration at_least) {
    const Replication& replication = cluster_->node(node).replication();
    const ReplicaAgent::State state = AgentOf(node, partition)->status();
    const TimePoint now = replication.environment().control->loop->Now();
    if (state.role == ReplicaRole::kPrimary) return now - state.leased_until >= at_least;
    const auto staleness = state.Staleness(now);
    return staleness && *staleness >= at_least;
  }
  int PrimaryCountOf(const std::string& node) {
    int count = 0;
    for (uint32_t p = 0; p < kPartitionCount; ++p) {
      const auto agent = AgentOf(node, p);
      if (agent != nullptr && agent->status().role == ReplicaRole::kPrimary) ++count;
    }
    return count;
  }
  static StatusOr<std::string> AppendTo(ReplicaSession& session, uint32_t partition,
                                        const std::string& what) {
    Data response;
    const Status status =
        session.Call({kRegisters, PartitionId(partition), MethodName("Append"), AccessMode::kWrite},
                     Data(what), &response, {.deadline = this_thread::Now() + seconds(5)});
    if (!status.ok()) return status;
    return response.bytes();
  }
};

TEST_F(ManyPartitionsTest, IdleOnesRestWhileTheirNodesExchangePulses) {
  StartMany(kOrdered);
  const double exchanges = CallsOf("s0", kExchangeMethod);
  simulator().RunFor(seconds(15));
  // With heartbeats the two links make 600, of 48 letters each.
  EXPECT_LE(CallsOf("s0", kExchangeMethod) - exchanges, 100);
  EXPECT_GE(CallsOf("s0", kPulseMethod) + CallsOf("s1", kPulseMethod), 100);
  for (const char* node : {"s0", "s1", "s2"}) {
    for (uint32_t p = 0; p < kPartitionCount; ++p) {
      EXPECT_TRUE(HasRested(node, p, seconds(10))) << node << "/" << p;
    }
  }
  EXPECT_EQ(PrimaryCountOf("s0"), int{kPartitionCount / 3});
}

// The heartbeats of resting primaries come rarely, share messages, and take no device.
TEST_F(ManyPartitionsTest, RestingOnesCostAFewMessagesAMinute) {
  StartMany(kOrdered);
  simulator().RunFor(seconds(20));
  const double exchanges = CallsOf("s0", kExchangeMethod);
  const double pulses = CallsOf("s0", kPulseMethod);
  const double pulses_of_last = CallsOf("s2", kPulseMethod);
  const uint64_t log_calls = LogCallsOf("s0");
  EXPECT_GT(log_calls, 0u);
  simulator().RunFor(seconds(120));
  // Two heartbeats of 16 primaries to two nodes, and answers to those of 32 others: 128 messages.
  EXPECT_GE(CallsOf("s0", kExchangeMethod) - exchanges, 8);
  EXPECT_LE(CallsOf("s0", kExchangeMethod) - exchanges, 80);
  EXPECT_EQ(LogCallsOf("s0"), log_calls);
  // One of two nodes calls the other, ten times a second.
  EXPECT_NEAR(CallsOf("s0", kPulseMethod) - pulses, 2 * 1200, 20);
  EXPECT_LE(CallsOf("s2", kPulseMethod) - pulses_of_last, 20);
}

TEST_F(ManyPartitionsTest, WritesAndReadsFindRestingOnesAtOnce) {
  StartMany(kBounded);
  simulator().RunFor(seconds(20));
  InSession([&](ReplicaSession& session) {
    for (uint32_t p = 0; p < kPartitionCount; ++p) {
      const TimePoint begin = this_thread::Now();
      EXPECT_EQ(AppendTo(session, p, "k=x").value(), "x");
      EXPECT_LE(this_thread::Now() - begin, milliseconds(100)) << p;
    }
  });
  simulator().RunFor(seconds(20));
  InSession([&](ReplicaSession& session) {
    const TimePoint begin = this_thread::Now();
    ReplicaReport report;
    EXPECT_EQ(Get(session, "k", &report).value(), "x");
    ASSERT_TRUE(report.staleness.has_value());
    EXPECT_LE(*report.staleness, milliseconds(500));
    EXPECT_LE(this_thread::Now() - begin, milliseconds(200));
  });
  // It stays awake while it is read.
  for (int i = 0; i < 20; ++i) {
    InSession([&](ReplicaSession& session) { EXPECT_EQ(Get(session, "k").value(), "x"); });
    simulator().RunFor(milliseconds(100));
    EXPECT_FALSE(HasRested("s1", 0, milliseconds(500)));
  }
}

TEST_F(ManyPartitionsTest, RestingOnesAreTakenOverAtOnceWhenTheirNodeIsLost) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    StartMany(kOrdered, seed);
    simulator().RunFor(seconds(20));
    simulator().Crash("s0");
    simulator().RunFor(milliseconds(1200));
    EXPECT_EQ(PrimaryCountOf("s1"), int{kPartitionCount / 3 * 2}) << "seed " << seed;
    simulator().Restart("s0");
    simulator().RunFor(seconds(15));
    EXPECT_EQ(PrimaryCountOf("s0"), int{kPartitionCount / 3}) << "seed " << seed;
  }
}

TEST_F(ManyPartitionsTest, ARestingOneIsTakenOverWhenOnlyItsReplicaFails) {
  StartMany(kOrdered);
  InSession([&](ReplicaSession& session) { EXPECT_EQ(AppendTo(session, 6, "k=x").value(), "x"); });
  simulator().RunFor(seconds(20));
  const Epoch before = AgentOf("s1", 6)->status().epoch;
  cluster_->node("s0")
      .replication()
      .FindKeeper(kRegisters, PartitionId(6))
      ->ReportDamage(DataLoss("a test says so"));
  simulator().RunFor(milliseconds(1500));
  EXPECT_GT(AgentOf("s1", 6)->status().epoch, before);
  EXPECT_TRUE(HasRested("s1", 8, seconds(10))) << "others go on resting";
  InSession([&](ReplicaSession& session) { EXPECT_EQ(AppendTo(session, 6, "k=y").value(), "xy"); });
}

TEST_F(ManyPartitionsTest, PartitionsWithoutDataHaveNoStoresAndTotalsCountAll) {
  StartMany(kOrdered);
  DurableStorage& storage = simulator().host("s0").storage();
  EXPECT_TRUE(storage.List()->empty());
  InSession([&](ReplicaSession& session) { EXPECT_EQ(AppendTo(session, 3, "k=x").value(), "x"); });
  simulator().RunFor(seconds(1));
  EXPECT_EQ(*storage.List(), std::vector<std::string>{"data-registers-3"});
  const MetricsRegistry& metrics = cluster_->node("s0").metrics();
  EXPECT_EQ(metrics.Value("neptune_replicas", {{"role", "primary"}}).value(), kPartitionCount / 3);
  EXPECT_EQ(metrics.Value("neptune_replicas_failed").value(), 0);
  EXPECT_GE(metrics.Value("neptune_replicas_executed_entries").value(), kPartitionCount);
  simulator().Crash("s0");
  simulator().Restart("s0");
  simulator().RunFor(seconds(10));
  InSession([&](ReplicaSession& session) { EXPECT_EQ(AppendTo(session, 3, "k=y").value(), "xy"); });
}

}  // namespace
}  // namespace neptune
