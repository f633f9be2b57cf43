#include "neptune/node/node_budgets.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <string>

#include "neptune/node/cluster_spec.h"

namespace neptune {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

ClusterSpec Spec(const std::string& node_fields) {
  const auto spec = ParseClusterSpec(
      "name: 'test' multicast_group: '239.192.7.1:7400' "
      "services { name: 'echo' module: 'echo' } "
      "services { name: 'data' module: 'registers' partition_count: 3 "
      "           replication { level: 'ordered_writes' witness: 'w' } } "
      "nodes { name: 'a' hosts { service: 'data' } " +
          node_fields +
          " } "
          "nodes { name: 'b' hosts { service: 'data' } } "
          "nodes { name: 'w' hosts { service: 'echo' } } "
          "nodes { name: 'e' hosts { service: 'echo' } }",
      "test");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return *spec;
}

BudgetSizes SizesOf(const ClusterSpec& spec, const char* node, const HostResources& resources) {
  return BudgetSizesOf(spec, *FindNode(spec, NodeId(node)), resources);
}

TEST(NodeBudgetsTest, MemoryIsAQuarterOfTheMachinesUnlessTheSpecGivesIt) {
  EXPECT_EQ(SizesOf(Spec(""), "a", {.memory_size = 4096 * kMiB}).memory, 1024 * kMiB);
  EXPECT_EQ(SizesOf(Spec(""), "a", {.memory_size = 100 * kMiB}).memory, 64 * kMiB);
  EXPECT_EQ(SizesOf(Spec("memory_budget_mib: 100"), "a", {.memory_size = 4096 * kMiB}).memory,
            100 * kMiB);
}

TEST(NodeBudgetsTest, ConnectionsGetTheDescriptorsThatNothingElseNeeds) {
  const ClusterSpec spec = Spec("");
  const HostResources resources = {.descriptor_limit = 1024};
  const BudgetSizes echo = SizesOf(spec, "e", resources);
  EXPECT_GE(echo.reserved_descriptors, 64u);
  EXPECT_EQ(echo.connections + echo.reserved_descriptors, 1024u);
  for (const char* node : {"a", "w"}) {
    EXPECT_EQ(SizesOf(spec, node, resources).reserved_descriptors,
              echo.reserved_descriptors + 3 * 16)
        << "stores of partitions on " << node;
  }
  EXPECT_EQ(SizesOf(spec, "a", {.descriptor_limit = 100}).connections, 45u);
}

TEST(NodeBudgetsTest, TheDescriptorsOfBorrowedSlotsAreReserved) {
  for (const size_t limit : {100u, 1024u, 20'000u, 1'000'000u}) {
    const BudgetSizes sizes = SizesOf(Spec(""), "e", {.descriptor_limit = limit});
    const ConnectionSlots slots(sizes.connections);
    const size_t others = std::min<size_t>(64, limit / 2);
    EXPECT_LE(sizes.connections + slots.borrowed_count_max() + others, limit) << limit;
  }
}

TEST(NodeBudgetsTest, ASmallMachineHasFewerConnections) {
  const HostResources resources = {.memory_size = 512 * kMiB, .descriptor_limit = 1'000'000};
  EXPECT_EQ(SizesOf(Spec(""), "e", resources).connections, 4096u);
  EXPECT_GT(SizesOf(Spec(""), "e", {.memory_size = 16'384 * kMiB, .descriptor_limit = 100'000})
                .connections,
            90'000u);
}

TEST(NodeBudgetsTest, HandshakesTakeUpToAQuarterOfTheConnections) {
  ClusterSpec spec = Spec("");
  const HostResources resources = {.descriptor_limit = 1024};
  const BudgetSizes open = SizesOf(spec, "e", resources);
  EXPECT_EQ(open.handshakes, 0u);
  spec.set_cluster_key_file("key");
  const BudgetSizes keyed = SizesOf(spec, "e", resources);
  EXPECT_EQ(keyed.handshakes, open.connections / 4);
  EXPECT_EQ(keyed.handshakes + keyed.connections, open.connections);
  EXPECT_EQ(SizesOf(spec, "e", {.descriptor_limit = 100'000}).handshakes, 1024u);
}

TEST(NodeBudgetsTest, SpecLowersTheLimitOfConnectionsOnly) {
  const HostResources resources = {.descriptor_limit = 1024};
  EXPECT_EQ(SizesOf(Spec("connection_count_max: 20"), "a", resources).connections, 20u);
  EXPECT_LT(SizesOf(Spec("connection_count_max: 5000"), "a", resources).connections, 1024u);
}

TEST(NodeBudgetsTest, BudgetsOutOfBoundsAreRefusedWithTheirNode) {
  for (const char* fields : {"memory_budget_mib: 63", "memory_budget_mib: 16777217",
                             "connection_count_max: 15", "disk_reserve_mib: 16777217"}) {
    const auto spec = ParseClusterSpec(
        std::string("name: 'test' multicast_group: '239.192.7.1:7400' services { name: 'echo' "
                    "module: 'echo' } nodes { name: 'a' hosts { service: 'echo' } ") +
            fields + " }",
        "test");
    EXPECT_EQ(spec.status().code(), StatusCode::kInvalidArgument) << fields;
    EXPECT_NE(spec.status().message().find("node 'a'"), std::string::npos) << spec.status();
  }
}

TEST(NodeBudgetsTest, MetricsAndReadinessFollowTheBudgets) {
  const ClusterSpec spec = Spec("disk_reserve_mib: 1");
  MetricsRegistry metrics;
  NodeBudgets budgets(spec, *FindNode(spec, NodeId("a")), {});
  ASSERT_TRUE(budgets.AddTo(metrics, /*with_disk=*/true).ok());
  const auto share = MemoryShare::Of(budgets.memory().budget);
  MemoryCharge charge;
  ASSERT_TRUE(share->TryCharge(MemoryUse::kAnswers, 1000, MemoryRank::kSmall, &charge));
  budgets.memory().budget->NoteRefusal(MemoryUse::kRequests);
  EXPECT_EQ(*metrics.Value("neptune_memory_used_bytes", {{"purpose", "answers"}}), 1000);
  EXPECT_EQ(*metrics.Value("neptune_memory_refusals_total", {{"purpose", "requests"}}), 1);
  EXPECT_EQ(budgets.WhyNotReady(), std::nullopt);
  budgets.disk().Update({.total = 100 * kMiB, .free = kMiB - 1});
  EXPECT_FALSE(budgets.disk().CheckWrite().ok());
  EXPECT_NE(budgets.WhyNotReady(), std::nullopt);
  EXPECT_EQ(*metrics.Value("neptune_disk_free_bytes"), kMiB - 1);
  EXPECT_EQ(*metrics.Value("neptune_disk_refused_writes_total"), 1);
}

}  // namespace
}  // namespace neptune
