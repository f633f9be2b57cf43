#include "tools/lab/replication_chaos.h"

#include <gtest/gtest.h>

namespace search::lab {
namespace {

TEST(ReplicationChaosTest, NothingIsLostDoubledOrTakenBack) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    ReplicationChaosOptions options;
    options.seed = seed;
    options.replica_count = 3 + static_cast<int>(seed % 3);
    options.is_staleness_bounded = seed % 2 == 0;
    options.servers_down_max = options.replica_count;
    options.faults = std::chrono::seconds(8);
    const ReplicationChaosResult result = RunReplicationChaos(options);
    EXPECT_EQ(result.wrong, "") << options.replica_count << " replicas";
    EXPECT_GT(result.acknowledged_count, 50u);
    EXPECT_GT(result.read_count, 50u);
  }
}

}  // namespace
}  // namespace search::lab
