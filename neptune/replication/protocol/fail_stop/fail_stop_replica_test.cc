#include "neptune/replication/protocol/fail_stop/fail_stop_replica.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "neptune/base/strings.h"
#include "neptune/replication/testing/replica_network.h"

namespace neptune {
namespace {

using replication_testing::Bug;
using replication_testing::NetworkOptions;
using replication_testing::ReplicaNetwork;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::unique_ptr<ReplicationProtocol> MakeFailStop(const ReplicaGroup& group,
                                                  const LogOutline& found, uint64_t incarnation,
                                                  uint64_t, TimePoint now) {
  return std::make_unique<FailStopReplica>(group, FailStopReplicaOptions(), found, incarnation,
                                           now);
}

NetworkOptions Members(int count, uint64_t seed = 1, Bug bug = Bug::kNone) {
  return {.seed = seed, .member_count = count, .make = MakeFailStop, .bug = bug};
}

FailStopReplica& Replica(ReplicaNetwork& network, MemberIndex member) {
  return static_cast<FailStopReplica&>(network.member(member));
}

// True if the most preferred live member is the primary, and all live members take part.
bool IsWholeAfter(ReplicaNetwork& network, Duration time) {
  network.WriteFor(time);
  network.RunFor(milliseconds(300));
  return network.IsWhole() && network.Primary() == MemberIndex{0};
}

TEST(FailStopReplicaTest, NewPartitionHasThePreferredPrimaryWithinASecond) {
  for (const int count : {1, 2, 3, 5}) {
    ReplicaNetwork network(Members(count));
    network.RunFor(seconds(1));
    EXPECT_EQ(network.Primary(), MemberIndex{0}) << count << " members";
    EXPECT_TRUE(network.IsWhole()) << count << " members" << network.Describe();
    EXPECT_EQ(network.wrong(), "");
  }
}

TEST(FailStopReplicaTest, NewPartitionBeginsWhenAllMembersAreThere) {
  ReplicaNetwork network(Members(3));
  network.Crash(2);
  network.RunFor(seconds(3));
  EXPECT_EQ(network.Primary(), std::nullopt);
  network.Restart(2);
  network.RunFor(seconds(1));
  EXPECT_EQ(network.Primary(), MemberIndex{0});
}

TEST(FailStopReplicaTest, WritesAreExecutedByAll) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(1));
  network.WriteFor(seconds(2));
  network.RunFor(milliseconds(200));
  EXPECT_GT(network.acknowledged_count(), 500u);
  for (MemberIndex member = 0; member < 3; ++member) {
    EXPECT_EQ(network.status(member).committed, network.status(0).last_lsn);
  }
  EXPECT_EQ(network.wrong(), "");
}

TEST(FailStopReplicaTest, NextPriorityTakesOverAndThePreferredBulliesItBack) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ReplicaNetwork network(Members(3, seed));
    network.RunFor(seconds(1));
    network.WriteFor(milliseconds(300));
    network.Crash(0);
    EXPECT_LT(network.LongestGap(seconds(2)), seconds(1)) << "seed " << seed;
    EXPECT_EQ(network.Primary(), MemberIndex{1}) << "seed " << seed << network.Describe();
    network.Restart(0);
    const Duration blocked = network.LongestGap(seconds(2));
    EXPECT_EQ(network.Primary(), MemberIndex{0}) << "seed " << seed << network.Describe();
    EXPECT_LT(blocked, seconds(1)) << "seed " << seed;
    EXPECT_TRUE(IsWholeAfter(network, seconds(1))) << "seed " << seed << network.Describe();
    EXPECT_EQ(network.wrong(), "") << "seed " << seed;
  }
}

TEST(FailStopReplicaTest, WritesAreBlockedWhileThePreferredCatchesUp) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(1));
  network.Crash(0);
  network.WriteFor(seconds(3));
  network.SlowDisk(0, 200);  // it needs a while for what it missed
  network.Restart(0);
  network.RunFor(milliseconds(100));
  EXPECT_EQ(network.Primary(), std::nullopt);
  EXPECT_FALSE(network.Write());
  network.SlowDisk(0, 1);
  EXPECT_TRUE(IsWholeAfter(network, seconds(3))) << network.Describe();
  EXPECT_EQ(network.wrong(), "");
}

TEST(FailStopReplicaTest, LostSecondaryHoldsWritesUpUntilItCountsAsStopped) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(1));
  network.WriteFor(milliseconds(300));
  network.Crash(2);
  const Duration gap = network.LongestGap(seconds(2));
  EXPECT_GE(gap, milliseconds(250));
  EXPECT_LT(gap, milliseconds(600));
  EXPECT_FALSE(network.status(0).write_set.contains(2));
  network.Restart(2);
  EXPECT_LT(network.LongestGap(seconds(1)), milliseconds(100)) << "it catches up during the writes";
  EXPECT_TRUE(IsWholeAfter(network, seconds(1))) << network.Describe();
  EXPECT_EQ(network.wrong(), "");
}

TEST(FailStopReplicaTest, SuccessorThatStopsLeavesThePlaceToThePrimary) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(1));
  network.Crash(0);
  network.WriteFor(seconds(1));
  network.SlowDisk(0, 1000);
  network.Restart(0);
  network.RunFor(milliseconds(100));
  network.Crash(0);
  network.WriteFor(seconds(1));
  EXPECT_EQ(network.Primary(), MemberIndex{1}) << network.Describe();
  EXPECT_EQ(network.wrong(), "");
}

TEST(FailStopReplicaTest, AfterTheLossOfAllAMemberMustBeStartedByHand) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(1));
  network.WriteFor(seconds(1));
  network.Crash(2);
  network.WriteFor(seconds(1));  // members 0 and 1 have more now
  network.Crash(0);
  network.Crash(1);
  const size_t acknowledged = network.acknowledged_count();
  for (MemberIndex member = 0; member < 3; ++member) network.Restart(member);
  network.RunFor(seconds(5));
  EXPECT_EQ(network.Primary(), std::nullopt);
  EXPECT_LT(network.status(2).last_lsn, network.status(1).last_lsn);
  ASSERT_TRUE(network.StartByHand(1).ok());
  EXPECT_TRUE(IsWholeAfter(network, seconds(2))) << network.Describe();
  EXPECT_GT(network.acknowledged_count(), acknowledged);
  EXPECT_EQ(network.wrong(), "");
}

TEST(FailStopReplicaTest, StartByHandIsWithoutEffectWhereAPrimaryLives) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(1));
  ASSERT_TRUE(network.StartByHand(2).ok());
  network.RunFor(seconds(1));
  EXPECT_EQ(network.primary_count(), 1);
  EXPECT_TRUE(network.IsWhole());
}

TEST(FailStopReplicaTest, MemberThatIsTakenForStoppedRecovers) {
  ReplicaNetwork network(Members(3));
  network.RunFor(seconds(1));
  Replica(network, 0).SetAlive(MemberSet::FirstOf(2));
  network.WriteFor(milliseconds(300));
  EXPECT_EQ(network.status(0).write_set, MemberSet::FirstOf(2));
  Replica(network, 0).SetAlive(MemberSet::FirstOf(3));
  EXPECT_TRUE(IsWholeAfter(network, seconds(1))) << network.Describe();
  EXPECT_EQ(network.wrong(), "");
}

TEST(FailStopReplicaTest, MemberWithANewDiskIsGivenTheData) {
  for (const MemberIndex lost : {0, 2}) {
    ReplicaNetwork network(Members(3));
    network.RunFor(seconds(1));
    network.WriteFor(seconds(1));
    network.Crash(lost);
    network.WriteFor(seconds(1));
    network.Wipe(lost);
    for (MemberIndex member = 0; member < 3; ++member) {
      if (member != lost) network.DropLog(member, 5);
    }
    network.Restart(lost);
    EXPECT_TRUE(IsWholeAfter(network, seconds(3))) << int{lost} << network.Describe();
    EXPECT_EQ(network.wrong(), "");
  }
}

// All members stop at once; then a member of the last write set is started by hand.
void LoseAll(ReplicaNetwork& network, int count, uint64_t choice) {
  const auto primary = network.Primary();
  if (!primary) return;
  const MemberSet newest = network.status(*primary).write_set;
  const Lsn committed = network.status(*primary).committed;
  for (MemberIndex member = 0; member < count; ++member) network.Crash(member);
  for (MemberIndex member = 0; member < count; ++member) network.Restart(member);
  network.RunFor(milliseconds(400));
  auto started = static_cast<MemberIndex>(choice % count);
  const auto has_all = [&](MemberIndex member) {
    return newest.contains(member) && network.status(member).last_lsn >= committed;
  };
  for (int i = 0; i < count && !has_all(started); ++i)
    started = static_cast<MemberIndex>((started + 1) % count);
  EXPECT_TRUE(network.StartByHand(started).ok());
}

// Members stop and restart; one with all acknowledged writes stays alive, or all are lost.
std::string RunWithFailures(uint64_t seed, Bug bug) {
  std::mt19937_64 random(seed);
  const int count = 2 + static_cast<int>(random() % 4);
  ReplicaNetwork network(Members(count, seed, bug));
  network.RunFor(seconds(1));
  for (int i = 0; i < 40 && network.wrong().empty(); ++i) {
    const auto member = static_cast<MemberIndex>(random() % count);
    const auto primary = network.Primary();
    if (random() % 2 == 0 && !network.lives(member)) {
      network.Restart(member);
    } else if (random() % 2 == 0 && network.lives(member) && primary) {
      const MemberSet left = network.status(*primary).write_set.Without(member);
      bool is_survived = false;
      for (MemberIndex other = 0; other < count; ++other) {
        is_survived |= left.contains(other) && network.lives(other) &&
                       (other == *primary || network.status(other).role == ReplicaRole::kSecondary);
      }
      if (is_survived) network.Crash(member);
      // A supervisor may restart it this quickly.
      if (random() % 3 == 0 && !network.lives(member)) network.Restart(member);
    } else if (random() % 8 == 0) {
      LoseAll(network, count, random());
    } else if (network.lives(member)) {
      network.DropLog(member, random() % 10);
    }
    network.WriteFor(milliseconds(random() % 900), milliseconds(3));
  }
  for (MemberIndex member = 0; member < count; ++member) {
    if (!network.lives(member)) network.Restart(member);
  }
  for (int i = 0; i < 30 && network.wrong().empty(); ++i) {
    if (IsWholeAfter(network, seconds(1))) return network.wrong();
  }
  return network.wrong().empty() ? "is not whole after 30 s" + network.Describe() : network.wrong();
}

TEST(FailStopReplicaTest, NothingGoesWrongWhileNodesFailByStopping) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    ASSERT_EQ(RunWithFailures(seed, Bug::kNone), "") << "seed " << seed;
  }
}

TEST(FailStopReplicaTest, PlantedBugsAreFound) {
  for (const Bug bug : {Bug::kForgetsEntries, Bug::kExecutesUncommitted, Bug::kAcknowledgesEarly,
                        Bug::kDoublesCommit, Bug::kLosesWriteInMessage, Bug::kLiesAboutMatch,
                        Bug::kReusesIncarnation}) {
    uint64_t seed = 1;
    while (seed <= 100 && RunWithFailures(seed, bug).empty()) ++seed;
    EXPECT_LE(seed, 100u) << NameOf(bug) << " is not found";
  }
}

}  // namespace
}  // namespace neptune
