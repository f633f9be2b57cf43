// Runs of replicated services: the load, and the detection of damage.

#include "tools/lab/replication/replica_run.h"

#include <gtest/gtest.h>

#include "tools/lab/replication/replica_discussion.h"

namespace search::lab {
namespace {

using std::chrono::seconds;

ReplicaLoadOptions LoadOf(DiscussionUsers& users, double rate) {
  ReplicaLoadOptions load;
  load.rate_per_s = rate;
  load.duration = seconds(4);
  load.next = [&users](ReplicaUser&, neptune::RandomSource& random) { return users.Next(random); };
  return load;
}

TEST(ReplicaRunTest, EveryServerHoldsItsShareOfThePartitions) {
  for (const int servers : {2, 4, 8, 16}) {
    for (int degree = 1; degree <= std::min(servers, 4); ++degree) {
      const neptune::ClusterSpec spec =
          ReplicaClusterSpec(DiscussionCluster(servers, degree, "ordered_writes"));
      for (const neptune::NodeSpec& node : spec.nodes()) {
        if (node.name()[0] != 's') continue;
        EXPECT_EQ(node.hosts(0).partitions_size(), 64 * degree / servers)
            << servers << " servers, degree " << degree;
      }
    }
  }
}

TEST(ReplicaRunTest, AnswersAllOfALightLoadAndKeepsWhatWasAcknowledged) {
  ReplicaCluster cluster(DiscussionCluster(4, 3, "staleness_bounded"));
  DiscussionUsers users({.server_count = 4, .write_share = 0.5});
  const ReplicaRunResult result = RunReplicas(cluster, LoadOf(users, 100), 1);
  EXPECT_NEAR(static_cast<double>(result.offered_count), 400, 80);
  EXPECT_EQ(result.outcomes.size(), result.offered_count);
  EXPECT_EQ(result.failed_count, 0u);
  EXPECT_EQ(result.regression_count, 0u);
  EXPECT_GT(users.added().size(), 250u);
  const DiscussionDamage damage = CheckDiscussion(cluster, users);
  EXPECT_EQ(damage.lost_count, 0u);
  EXPECT_EQ(damage.doubled_count, 0u);
}

TEST(ReplicaRunTest, WhatIsNotThereIsFoundToBeLost) {
  ReplicaCluster cluster(DiscussionCluster(2, 2, "ordered_writes"));
  ReplicaCluster other(DiscussionCluster(2, 2, "ordered_writes"));
  DiscussionUsers users({.server_count = 2, .write_share = 1});
  EXPECT_EQ(RunReplicas(cluster, LoadOf(users, 20), 1).failed_count, 0u);
  ASSERT_GT(users.added().size(), 50u);
  EXPECT_EQ(CheckDiscussion(other, users).lost_count, users.added().size());
}

TEST(ReplicaRunTest, FindsTheRateOfASingleNode) {
  const double rate =
      HighestDiscussionRate(DiscussionCluster(1, 1, ""), {.server_count = 1, .write_share = 0.1},
                            {.duration = seconds(60)}, 5);
  EXPECT_NEAR(rate, 152, 6);
}

}  // namespace
}  // namespace search::lab
