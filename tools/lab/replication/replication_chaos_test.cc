#include "tools/lab/replication/replication_chaos.h"

#include <gtest/gtest.h>

namespace search::lab {
namespace {

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
