#include "neptune/replication/protocol/safe/safe_replica.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "neptune/base/strings.h"
#include "neptune/replication/testing/safe_network.h"

namespace neptune {
namespace {

using replication_testing::AllBugs;
using replication_testing::Bug;
using replication_testing::IsWholeAfter;
using replication_testing::NetworkOptions;
using replication_testing::ReplicaNetwork;
using replication_testing::Room;
using replication_testing::SafeMembers;
using std::chrono::milliseconds;
using std::chrono::seconds;

Duration Percentile(std::vector<Duration> times, double share) {
  std::sort(times.begin(), times.end());
  return times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))];
}

TEST(SafeReplicaTest, ANewPartitionHasThePreferredPrimaryWithinASecond) {
  for (int count : {1, 2, 3, 5}) {
    ReplicaNetwork network(SafeMembers(count));
    network.RunFor(seconds(1));
    EXPECT_EQ(network.Primary(), MemberIndex{0}) << count << " members";
    EXPECT_TRUE(network.IsWhole()) << count << " members";
    EXPECT_EQ(network.wrong(), "");
  }
}

TEST(SafeReplicaTest, NothingIsFoundedBeforeAllMembersAreThere) {
  ReplicaNetwork network(SafeMembers(3));
  network.Crash(2);
  network.Crash(1);
  network.RunFor(seconds(5));
  EXPECT_EQ(network.Primary(), std::nullopt);
  EXPECT_EQ(network.status(0).role, ReplicaRole::kBlank);
  network.Restart(1);
  network.RunFor(seconds(5));
  EXPECT_EQ(network.Primary(), std::nullopt);
  network.Restart(2);
  network.RunFor(seconds(1));
  EXPECT_EQ(network.Primary(), MemberIndex{0});
}

TEST(SafeReplicaTest, WritesAreAcknowledgedAndExecutedByAll) {
  ReplicaNetwork network(SafeMembers(3));
  network.RunFor(seconds(1));
  const int offered = network.WriteFor(seconds(2));
  network.RunFor(milliseconds(200));
  EXPECT_EQ(network.acknowledged_count(), static_cast<size_t>(offered));
  EXPECT_GT(offered, 500);
  for (MemberIndex member = 0; member < 3; ++member) {
    EXPECT_EQ(network.status(member).committed, network.status(0).last_lsn);
  }
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaTest, WritesStandStillForLessThanASecondWhenAPrimaryIsLost) {
  for (int count : {3, 5}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      ReplicaNetwork network(SafeMembers(count, 0, seed));
      network.RunFor(seconds(1));
      network.WriteFor(milliseconds(200));
      network.Crash(0);
      EXPECT_LT(network.LongestGap(seconds(3)), seconds(1)) << "seed " << seed;
      // A member with more of the last writes may be elected first; then it hands over to the
      // preferred live member.
      network.WriteFor(seconds(3));
      EXPECT_EQ(network.Primary(), MemberIndex{1}) << "seed " << seed;
      EXPECT_EQ(network.wrong(), "") << "seed " << seed;
    }
  }
}

TEST(SafeReplicaTest, APreferredMemberThatIsBackTakesOverWithinFiftyMilliseconds) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ReplicaNetwork network(SafeMembers(3, 0, seed));
    network.RunFor(seconds(1));
    network.Crash(0);
    network.WriteFor(seconds(2));
    ASSERT_EQ(network.Primary(), MemberIndex{1}) << "seed " << seed;
    network.Restart(0);
    const Duration gap = network.LongestGap(seconds(8));
    EXPECT_LE(gap, milliseconds(50)) << "seed " << seed;
    EXPECT_EQ(network.Primary(), MemberIndex{0}) << "seed " << seed;
    EXPECT_EQ(network.wrong(), "") << "seed " << seed;
  }
}

TEST(SafeReplicaTest, APrimaryThatIsCutOffAcknowledgesNothingAndStepsDown) {
  ReplicaNetwork network(SafeMembers(3));
  network.RunFor(seconds(1));
  network.WriteFor(milliseconds(100));
  network.RunFor(milliseconds(50));
  const size_t before = network.acknowledged_count();
  for (MemberIndex other : {1, 2}) {
    network.Cut(0, other, true);
    network.Cut(other, 0, true);
  }
  EXPECT_TRUE(network.Write());
  network.RunFor(milliseconds(340));
  EXPECT_EQ(network.acknowledged_count(), before);
  network.RunFor(seconds(2));
  EXPECT_NE(network.status(0).role, ReplicaRole::kPrimary);
  EXPECT_EQ(network.Primary(), MemberIndex{1});
  network.HealAll();
  EXPECT_TRUE(IsWholeAfter(network, seconds(5)));
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaTest, ASlowMemberLeavesTheWriteSetWithinASecondAndWritesHardlyNotice) {
  ReplicaNetwork healthy(SafeMembers(3));
  healthy.RunFor(seconds(1));
  healthy.WriteFor(seconds(30));
  ReplicaNetwork network(SafeMembers(3));
  network.RunFor(seconds(1));
  network.Slow(2, 100);
  network.WriteFor(seconds(1));
  EXPECT_FALSE(network.status(0).write_set.contains(2));
  network.WriteFor(seconds(29));
  EXPECT_FALSE(network.status(0).write_set.contains(2));
  EXPECT_LE(Percentile(network.write_times(), .99), Percentile(healthy.write_times(), .99) * 3 / 2);
  network.HealAll();
  network.WriteFor(seconds(10));
  EXPECT_TRUE(network.status(0).write_set.contains(2));
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaTest, ASlowPrimaryGivesItsPlaceAway) {
  ReplicaNetwork network(SafeMembers(3));
  network.RunFor(seconds(4));
  network.SlowDisk(0, 100);
  network.WriteFor(seconds(5));
  EXPECT_NE(network.Primary(), MemberIndex{0});
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaTest, MembersOnSlowDisksElectAPrimaryThatStays) {
  for (const int slowness : {20, 100, 200, 400}) {  // milliseconds a store
    SCOPED_TRACE(slowness);
    ReplicaNetwork network(SafeMembers(3));
    for (MemberIndex member = 0; member < 3; ++member) network.SlowDisk(member, slowness);
    network.RunFor(seconds(20));
    const std::optional<MemberIndex> primary = network.Primary();
    ASSERT_TRUE(primary);
    const Epoch epoch = network.status(*primary).epoch;
    network.WriteFor(seconds(30));
    EXPECT_EQ(network.Primary(), primary);
    EXPECT_EQ(network.status(*primary).epoch, epoch);
    EXPECT_GE(network.write_times().size(), 5u);
    EXPECT_EQ(network.wrong(), "");
  }
}

TEST(SafeReplicaTest, TwoReplicasAndAWitnessOutliveEither) {
  for (MemberIndex lost : {0, 1}) {
    ReplicaNetwork network(SafeMembers(3, 1));
    network.RunFor(seconds(1));
    EXPECT_FALSE(network.status(0).write_set.contains(2)) << "a witness that is not needed";
    network.WriteFor(milliseconds(200));
    network.Crash(lost);
    EXPECT_LT(network.LongestGap(seconds(3)), seconds(1));
    EXPECT_EQ(network.Primary(), MemberIndex(1 - lost));
    EXPECT_TRUE(network.status(1 - lost).write_set.contains(2));
    network.Restart(lost);
    EXPECT_TRUE(IsWholeAfter(network, seconds(6)));
    EXPECT_FALSE(network.status(0).write_set.contains(2));
    EXPECT_EQ(network.wrong(), "");
  }
}

TEST(SafeReplicaTest, AWitnessBringsWhatOnlyItHasToAReplica) {
  ReplicaNetwork network(SafeMembers(3, 1));
  network.RunFor(seconds(1));
  network.Crash(1);
  network.WriteFor(seconds(2));  // on 0 and the witness
  const size_t acknowledged = network.acknowledged_count();
  EXPECT_GT(acknowledged, 100u);
  network.Crash(0);
  network.Restart(1);
  network.RunFor(seconds(3));
  EXPECT_EQ(network.Primary(), MemberIndex{1});
  EXPECT_GE(network.status(1).committed, acknowledged);
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaTest, AMemberThatForgotEverythingCatchesUpBeforeItTakesPart) {
  ReplicaNetwork network(SafeMembers(3));
  network.RunFor(seconds(1));
  network.WriteFor(milliseconds(500));
  network.Crash(2);
  network.Wipe(2);
  network.Restart(2);
  EXPECT_EQ(network.status(2).role, ReplicaRole::kBlank);
  EXPECT_TRUE(IsWholeAfter(network, seconds(4)));
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaTest, AForgetfulMemberDoesNotHelpToElectOneThatHasLess) {
  ReplicaNetwork network(SafeMembers(3));
  network.RunFor(seconds(1));
  network.Crash(2);
  network.WriteFor(seconds(2));  // on 0 and 1
  network.Crash(1);
  network.Crash(0);
  network.Wipe(1);
  network.Restart(1);
  network.Restart(2);
  network.RunFor(seconds(5));
  EXPECT_EQ(network.Primary(), std::nullopt);  // only 0 knows what was acknowledged
  network.Restart(0);
  EXPECT_TRUE(IsWholeAfter(network, seconds(5)));
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaTest, AMemberFarBehindTakesTheDataOfAnother) {
  ReplicaNetwork network(SafeMembers(3));
  network.RunFor(seconds(1));
  network.Crash(2);
  network.WriteFor(seconds(2));
  network.DropLog(0, 5);
  network.DropLog(1, 5);
  network.Restart(2);
  EXPECT_TRUE(IsWholeAfter(network, seconds(5)));
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaTest, AfterTheLossOfAllTheNewestLogOfAMajorityWins) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    ReplicaNetwork network(SafeMembers(3, 0, seed));
    network.RunFor(seconds(1));
    const MemberIndex behind = random() % 3;
    network.Crash(behind);
    network.RunFor(seconds(1));
    network.WriteFor(seconds(1));
    for (MemberIndex member = 0; member < 3; ++member) {
      if (member != behind) network.Crash(member);
    }
    std::vector<MemberIndex> order = {0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    for (MemberIndex member : order) {
      network.Restart(member);
      network.RunFor(milliseconds(random() % 2000));
    }
    EXPECT_TRUE(IsWholeAfter(network, seconds(8))) << "seed " << seed;
    EXPECT_EQ(network.wrong(), "") << "seed " << seed;
  }
}

// All members stop; then all disks are lost except that of a member of the write set, which is
// returned.
MemberIndex LoseDisksOfAllButOne(ReplicaNetwork& network, int count, uint64_t choice) {
  const auto primary = network.Primary();
  const MemberSet newest = network.status(primary.value_or(0)).write_set;
  auto left = static_cast<MemberIndex>(choice % static_cast<unsigned>(count));
  while (!newest.contains(left)) left = static_cast<MemberIndex>((left + 1) % count);
  for (MemberIndex member = 0; member < count; ++member) network.Crash(member);
  for (MemberIndex member = 0; member < count; ++member) {
    if (member != left) network.Wipe(member);
  }
  return left;
}

TEST(SafeReplicaTest, APartitionIsStartedByHandFromTheOnlyDiskThatIsLeft) {
  for (int count : {3, 5}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      ReplicaNetwork network(SafeMembers(count, 0, seed));
      network.RunFor(seconds(1));
      network.WriteFor(seconds(1));
      const MemberIndex left = LoseDisksOfAllButOne(network, count, seed);
      for (MemberIndex member = 0; member < count; ++member) network.Restart(member);
      network.RunFor(seconds(10));
      ASSERT_EQ(network.Primary(), std::nullopt) << "seed " << seed;
      const size_t before = network.acknowledged_count();
      ASSERT_TRUE(network.StartByHand(left).ok()) << "seed " << seed;
      EXPECT_TRUE(IsWholeAfter(network, seconds(8))) << "seed " << seed << network.Describe();
      EXPECT_GT(network.acknowledged_count(), before);
      EXPECT_EQ(network.wrong(), "") << "seed " << seed;
    }
  }
}

TEST(SafeReplicaTest, WhatIsStartedByHandAcknowledgesNothingAloneAndMayBeLostBeforeOthersJoin) {
  ReplicaNetwork network(SafeMembers(3));
  network.RunFor(seconds(1));
  network.WriteFor(seconds(1));
  const MemberIndex left = LoseDisksOfAllButOne(network, 3, 1);
  network.Restart(left);
  const size_t before = network.acknowledged_count();
  for (int i = 0; i < 2; ++i) {
    network.RunFor(seconds(4));
    ASSERT_TRUE(network.StartByHand(left).ok());
    network.WriteFor(seconds(5));
    EXPECT_EQ(network.status(left).role, ReplicaRole::kPrimary);
    EXPECT_EQ(network.acknowledged_count(), before);
    network.Crash(left);
    network.Restart(left);
  }
  for (MemberIndex member = 0; member < 3; ++member) {
    if (member != left) network.Restart(member);
  }
  network.RunFor(seconds(4));
  ASSERT_TRUE(network.StartByHand(left).ok());
  EXPECT_TRUE(IsWholeAfter(network, seconds(8))) << network.Describe();
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaTest, StartByHandIsRefusedWhereItWouldBeWrong) {
  ReplicaNetwork network(SafeMembers(3, 1));
  EXPECT_FALSE(network.StartByHand(0).ok());  // blank
  network.RunFor(seconds(5));
  EXPECT_FALSE(network.StartByHand(0).ok());  // the primary
  EXPECT_FALSE(network.StartByHand(1).ok());  // hears a primary
  network.Crash(0);
  network.Crash(1);
  network.RunFor(seconds(5));
  EXPECT_FALSE(network.StartByHand(2).ok());  // the witness
  network.Restart(0);
  EXPECT_FALSE(network.StartByHand(0).ok());  // has just started
  network.Restart(1);
  EXPECT_TRUE(IsWholeAfter(network, seconds(8)));
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaTest, AnOlderLogThatIsStartedByHandIsNotFollowed) {
  ReplicaNetwork network(SafeMembers(3));
  network.RunFor(seconds(1));
  for (const MemberIndex other : {1, 2}) {
    network.Cut(0, other, true);
    network.Cut(other, 0, true);
  }
  network.WriteFor(seconds(4));
  const size_t before = network.acknowledged_count();
  EXPECT_GT(before, 100u);
  EXPECT_TRUE(network.StartByHand(0).ok());
  network.WriteFor(seconds(1));
  network.HealAll();
  EXPECT_TRUE(IsWholeAfter(network, seconds(10))) << network.Describe();
  EXPECT_GT(network.acknowledged_count(), before + 100);
  EXPECT_EQ(network.wrong(), "");
}

// All disks but one are lost, and members stop, restart and are started by hand until all are
// healthy.
std::string RunWithLostDisks(uint64_t seed) {
  std::mt19937_64 random(seed);
  const int count = 3 + static_cast<int>(random() % 3);
  ReplicaNetwork network(SafeMembers(count, 0, seed));
  network.RunFor(seconds(1));
  network.WriteFor(milliseconds(500));
  const MemberIndex left = LoseDisksOfAllButOne(network, count, random());
  for (int i = 0; i < 30 && network.wrong().empty(); ++i) {
    const auto member = static_cast<MemberIndex>(random() % static_cast<unsigned>(count));
    if (!network.lives(member)) {
      network.Restart(member);
    } else if (random() % 4 == 0) {
      network.Crash(member);
    }
    // Refused where it is not allowed.
    if (network.lives(left) && random() % 2 == 0) (void)network.StartByHand(left);
    network.WriteFor(milliseconds(random() % 2500), milliseconds(3));
  }
  for (MemberIndex member = 0; member < count; ++member) {
    if (!network.lives(member)) network.Restart(member);
  }
  for (int i = 0; i < 60 && network.wrong().empty(); ++i) {
    if (i % 5 == 4 && !network.Primary()) (void)network.StartByHand(left);
    if (IsWholeAfter(network, seconds(1))) return network.wrong();
  }
  return network.wrong().empty() ? "is not whole after 60 s" + network.Describe() : network.wrong();
}

TEST(SafeReplicaTest, NothingGoesWrongWhereLostDisksAreMadeUpForByHand) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    ASSERT_EQ(RunWithLostDisks(seed), "") << "seed " << seed;
  }
}

// Members without room take few writes, which find fewer of the bugs that need writes.
enum class DiskFaults { kNone, kDrawn };

// Random faults for ten seconds, then none for ten: no invariant may be violated at any time, and
// in the end all members are healthy.
std::string RunWithFaults(uint64_t seed, Bug bug, DiskFaults disk_faults) {
  std::mt19937_64 random(seed);
  const int count = 2 + static_cast<int>(random() % 4);
  const int witnesses = count % 2 == 1 && random() % 3 == 0 ? 1 : 0;
  NetworkOptions options = SafeMembers(count, witnesses, seed);
  options.bug = bug;
  options.duplication = random() % 2 == 0 ? 0 : .1;
  options.delay_mean = random() % 3 == 0 ? milliseconds(20) : std::chrono::microseconds(300);
  options.store_mean = random() % 4 == 0 ? milliseconds(10) : milliseconds(1);
  ReplicaNetwork network(options);
  network.RunFor(seconds(1));
  std::optional<MemberIndex> wiped;
  const auto any = [&] {
    return static_cast<MemberIndex>(random() % static_cast<unsigned>(count));
  };
  const int trouble_max = 1 + static_cast<int>(random() % 4);
  const unsigned kind_count = disk_faults == DiskFaults::kDrawn ? 14 : 12;
  for (int i = 0; i < 60 && network.wrong().empty(); ++i) {
    for (int trouble = 0; trouble < trouble_max; ++trouble) {
      const MemberIndex member = any();
      switch (random() % kind_count) {
        case 0:
        case 1:
          if (network.lives(member)) network.Crash(member);
          break;
        case 2:
        case 3:
        case 4:
          if (!network.lives(member)) network.Restart(member);
          break;
        case 5:
          if (network.lives(member) && !network.paused(member)) network.Pause(member);
          break;
        case 6:
        case 7:
          if (network.paused(member)) network.Resume(member);
          break;
        case 8: {
          const MemberIndex other = any();
          if (other != member) network.Cut(member, other, random() % 2 == 0);
          break;
        }
        case 9:
          network.SetLoss(random() % 2 == 0 ? 0 : .3);
          break;
        case 10:
          network.Slow(member, random() % 2 == 0 ? 1 : 50);
          break;
        case 11:
          // At most one disk is lost at a time, and the next one only after all members have
          // recovered.
          if (wiped && network.IsWhole()) wiped.reset();
          if (!wiped && count >= 3 && network.IsWhole()) {
            wiped = member;
            network.Crash(member);
            network.Wipe(member);
            network.Restart(member);
          } else if (network.lives(member)) {
            network.DropLog(member, random() % 10);
          }
          break;
        case 12:
          network.SetRoom(member, random() % 2 == 0 ? Room::kAmple : Room::kFull);
          if (random() % 4 == 0) network.SetRoom(member, Room::kCritical);
          break;
        case 13:
          // A witness has no data that could make up for an older log.
          if (wiped && network.IsWhole()) wiped.reset();
          if (!wiped && count >= 3 && (witnesses == 0 || network.IsWhole())) {
            if (network.Decay(member)) wiped = member;
          }
          break;
      }
    }
    network.WriteFor(milliseconds(random() % 300), milliseconds(3));
  }
  if (!network.wrong().empty()) return network.wrong();
  network.HealAll();
  for (MemberIndex member = 0; member < count; ++member) {
    if (!network.lives(member)) network.Restart(member);
    if (network.paused(member)) network.Resume(member);
  }
  for (int i = 0; i < 100 && network.wrong().empty(); ++i) {
    if (IsWholeAfter(network, seconds(1))) return network.wrong();
  }
  return network.wrong().empty() ? "is not whole after 100 s of peace" + network.Describe()
                                 : network.wrong();
}

TEST(SafeReplicaTest, NothingGoesWrongUnderRandomFaults) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    for (const DiskFaults disk_faults : {DiskFaults::kNone, DiskFaults::kDrawn}) {
      ASSERT_EQ(RunWithFaults(seed, Bug::kNone, disk_faults), "")
          << "seed " << seed << (disk_faults == DiskFaults::kDrawn ? ", with faults of disks" : "");
    }
  }
}

TEST(SafeReplicaTest, EveryPlantedBugIsFound) {
  // Most are found by one of the first hundred histories. A life that looks like the one before
  // does harm only if a message reaches it that was under way when the former one ended.
  constexpr uint64_t kSeedMax = 5000;
  ASSERT_GE(AllBugs().size(), 20u);
  for (const Bug bug : AllBugs()) {
    uint64_t seed = 1;
    while (seed <= kSeedMax && RunWithFaults(seed, bug, DiskFaults::kNone).empty()) ++seed;
    EXPECT_LE(seed, kSeedMax) << NameOf(bug) << " is not found";
  }
}

}  // namespace
}  // namespace neptune
