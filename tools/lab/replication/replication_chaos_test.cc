#include "tools/lab/replication/replication_chaos.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace search::lab {
namespace {

using neptune::Fault;

constexpr const char* kLevels[] = {"write_anywhere", "ordered_writes", "staleness_bounded"};

TEST(ReplicationChaosTest, NothingIsLostDoubledOrTakenBack) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    ReplicationChaosOptions options;
    options.seed = seed;
    options.replica_count = 3 + static_cast<int>(seed / 2 % 3);
    options.level = kLevels[seed % 3];
    options.servers_down_max = options.replica_count;
    options.faults = std::chrono::seconds(8);
    const ReplicationChaosResult result = RunReplicationChaos(options);
    EXPECT_EQ(result.wrong, "") << options.replica_count << " replicas, " << options.level;
    EXPECT_GT(result.acknowledged_count, 50u);
    EXPECT_GT(result.read_count, 50u);
  }
}

// Idle partitions rest under faults too, and wake for every call; at the end all of them rest.
TEST(ReplicationChaosTest, PartitionsRestAndWakeUnderFaults) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    ReplicationChaosOptions options;
    options.seed = seed;
    options.level = kLevels[1 + seed % 2];
    options.partition_count = kRestingPartitionCount;
    options.faults = std::chrono::seconds(6);
    const ReplicationChaosResult result = RunReplicationChaos(options);
    EXPECT_EQ(result.wrong, "") << options.level;
    EXPECT_GT(result.acknowledged_count, 20u);
    EXPECT_GT(result.rest_count, 20u);
  }
}

// A fault that disturbs nothing would test nothing.
TEST(ReplicationChaosTest, EveryKindOfFaultTakesEffect) {
  ReplicationChaosOptions options;
  const std::vector<Fault::Kind> drawn = ChaosKinds(options);
  for (const Fault::Kind kind : std::set<Fault::Kind>(drawn.begin(), drawn.end())) {
    options.only = kind;
    options.faults = std::chrono::seconds(10);
    const ReplicationChaosResult result = RunReplicationChaos(options);
    EXPECT_EQ(result.wrong, "") << TraitsOf(kind).name;
    ASSERT_TRUE(result.faults.contains(kind)) << TraitsOf(kind).name;
    EXPECT_GT(result.faults.at(kind).effective, 0u) << TraitsOf(kind).name;
    EXPECT_EQ(result.faults.size(), 1u);
  }
}

TEST(ReplicationChaosTest, KindsOfTheProcessesAloneAreLeftOut) {
  ReplicationChaosOptions options;
  const std::vector<Fault::Kind> drawn = ChaosKinds(options);
  const std::set<Fault::Kind> kinds(drawn.begin(), drawn.end());
  EXPECT_TRUE(kinds.contains(Fault::Kind::kBitFlip));
  EXPECT_TRUE(kinds.contains(Fault::Kind::kFullCapsule));
  EXPECT_FALSE(kinds.contains(Fault::Kind::kMemoryLimit));
  options.level = "write_anywhere";
  for (const Fault::Kind kind : ChaosKinds(options)) {
    EXPECT_FALSE(TraitsOf(kind).may_damage()) << TraitsOf(kind).name;
  }
}

TEST(ReplicationChaosTest, ScheduleIsDrawnFromTheSeed) {
  ReplicationChaosOptions options;
  options.faults = std::chrono::seconds(4);
  const ReplicationChaosResult first = RunReplicationChaos(options);
  const ReplicationChaosResult second = RunReplicationChaos(options);
  EXPECT_FALSE(first.schedule.empty());
  EXPECT_EQ(first.schedule, second.schedule);
  EXPECT_EQ(first.acknowledged_count, second.acknowledged_count);
}

}  // namespace
}  // namespace search::lab
