#include "tools/chaos/process_cluster.h"

#include <gtest/gtest.h>

#include "tools/chaos/flood.h"

namespace search::chaos {
namespace {

using neptune::Fault;
using Kind = Fault::Kind;
using std::chrono::seconds;

TEST(ReplicaFiguresTest, AreReadFromAPageOfMetrics) {
  const ReplicaFigures figures = ReplicaFiguresOf(
      "# HELP neptune_replicas_epochs Sum of the replicas' epochs.\n"
      "neptune_replicas_epochs 7\n"
      "neptune_replicas_failed 1\n"
      "neptune_replicas{role=\"primary\"} 1\n"
      "neptune_replicas{role=\"secondary\"} 0\n"
      "neptune_replicas{role=\"recovering\"} 1\n"
      "neptune_replicas_log_size_bytes 1.5e3\n"
      "neptune_replica_log_size_bytes{service=\"registers\",partition=\"0\"} 1.5e3\n");
  EXPECT_EQ(figures.count, 2u);
  EXPECT_EQ(figures.failed_count, 1u);
  EXPECT_EQ(figures.primary_count, 1u);
  EXPECT_EQ(figures.serving_count, 1u);
  EXPECT_EQ(figures.epoch_sum, 7);
  EXPECT_EQ(figures.log_size_sum, 1500);
}

TEST(ProcessClusterTest, RefusesACountOfNodesOutOfRange) {
  for (const int count : {0, kProcessClusterNodeCountMax + 1}) {
    EXPECT_EQ(ProcessCluster::Start({.node_count = count}).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

// Whether clients that come while a node can open nothing more are answered.
bool AnswersNewClientsWithoutDescriptors(ProcessCluster& cluster, int node) {
  if (!cluster.process(node).StarveOfDescriptors().ok()) return false;
  const auto clients =
      Flood::Start(cluster.calls(node), {.service = kProbeService, .connections = 4});
  const bool answers = clients.ok() && cluster.Await(seconds(10), [&] {
    const auto totals = (*clients)->Totals();
    return totals.ok() && totals->answers > 0;
  });
  return cluster.process(node).EndStarveOfDescriptors().ok() && answers;
}

// One cluster: a start takes longer than what is tested.
TEST(ProcessClusterTest, EveryKindOfFaultCanBeCausedAndEnded) {
  auto started = ProcessCluster::Start({.node_count = 3, .with_log_pipes = true});
  ASSERT_TRUE(started.ok()) << started.status();
  ProcessCluster& cluster = **started;
  ASSERT_TRUE(cluster.AwaitWrites(seconds(30)).ok());
  EXPECT_TRUE(cluster.Await(seconds(30), [&] { return cluster.IsWhole(0); }));
  EXPECT_GE(cluster.Primary(), 0);
  const auto faults = cluster.MakeFaults(1);
  for (const neptune::FaultTraits& traits : neptune::AllFaultTraits()) {
    // The last one, since what the node becomes with it is for others to judge.
    if (!faults->Supports(traits.kind) || traits.kind == Kind::kBitFlip) continue;
    const Fault fault = {.kind = traits.kind, .hosts = {"s2"}, .amount = 0.01};
    EXPECT_TRUE(faults->Begin(fault).ok()) << traits.name;
    EXPECT_TRUE(faults->End(fault).ok()) << traits.name;
    if (cluster.process(2).HasEnded()) {
      EXPECT_TRUE(cluster.process(2).Start().ok()) << traits.name;
    }
  }
  const Fault flip = {.kind = Kind::kBitFlip, .hosts = {"s2"}};
  EXPECT_TRUE(faults->Begin(flip).ok());
  EXPECT_NE(faults->note().find(cluster.DataFolderOf(2)), std::string::npos) << faults->note();
  EXPECT_TRUE(faults->End(flip).ok());
  for (const Kind kind : {Kind::kSlowFlush, Kind::kReadErrors, Kind::kHungLoop, Kind::kCrashInFlush,
                          Kind::kFloodHuge, Kind::kBlockedLog}) {
    EXPECT_TRUE(faults->Supports(kind)) << neptune::TraitsOf(kind).name;
  }
  EXPECT_TRUE(AnswersNewClientsWithoutDescriptors(cluster, 1));
  EXPECT_TRUE(cluster.AwaitWrites(seconds(30)).ok());
  history::RegisterContents contents;
  ASSERT_TRUE(cluster.ReadContents({{0, "ready"}}, &contents).ok());
  EXPECT_EQ(contents.size(), 1u);
}

}  // namespace
}  // namespace search::chaos
