// Members whose disks have no room for new writes, and members whose logs decay.
#include <gtest/gtest.h>

#include <map>

#include "neptune/replication/testing/safe_network.h"

namespace neptune {
namespace {

using replication_testing::IsWholeAfter;
using replication_testing::ReplicaNetwork;
using replication_testing::Room;
using replication_testing::SafeMembers;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(SafeReplicaDiskTest, APrimaryWithoutRoomIsReplacedWithinHalfASecondAndLeadsAgainLater) {
  // One that takes no entries either must also leave its successor's write set.
  const std::map<Room, Duration> gap_max = {{Room::kFull, milliseconds(500)},
                                            {Room::kCritical, milliseconds(1500)}};
  for (const auto& [room, gap] : gap_max) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      ReplicaNetwork network(SafeMembers(3, 0, seed));
      network.RunFor(seconds(5));
      network.WriteFor(milliseconds(500));
      network.SetRoom(0, room);
      EXPECT_LE(network.LongestGap(seconds(3)), gap) << "seed " << seed;
      EXPECT_NE(network.Primary(), MemberIndex{0}) << "seed " << seed;
      network.SetRoom(0, Room::kAmple);
      EXPECT_TRUE(IsWholeAfter(network, seconds(10))) << network.Describe();
      EXPECT_EQ(network.Primary(), MemberIndex{0}) << "seed " << seed;
      EXPECT_EQ(network.wrong(), "") << "seed " << seed;
    }
  }
}

TEST(SafeReplicaDiskTest, APrimaryStaysWhileNoMemberHasRoom) {
  ReplicaNetwork network(SafeMembers(3));
  network.RunFor(seconds(5));
  const int before = network.primary_count();
  for (const MemberIndex member : {1, 2}) network.SetRoom(member, Room::kFull);
  network.RunFor(milliseconds(300));  // the primary hears of it
  network.SetRoom(0, Room::kFull);
  EXPECT_EQ(network.WriteFor(seconds(5)), 0);
  EXPECT_EQ(network.Primary(), MemberIndex{0});
  EXPECT_EQ(network.primary_count(), before);
  network.SetRoom(1, Room::kAmple);
  network.WriteFor(seconds(2));
  EXPECT_EQ(network.Primary(), MemberIndex{1});
  EXPECT_GT(network.acknowledged_count(), 100u);
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaDiskTest, AMemberThatTakesNoEntriesLeavesTheWriteSetAndWritesGoOn) {
  ReplicaNetwork network(SafeMembers(3));
  network.RunFor(seconds(5));
  network.SetRoom(2, Room::kCritical);
  EXPECT_LE(network.LongestGap(seconds(4)), seconds(1));
  EXPECT_FALSE(network.status(0).write_set.contains(2));
  EXPECT_EQ(network.Primary(), MemberIndex{0});
  network.SetRoom(2, Room::kAmple);
  EXPECT_TRUE(IsWholeAfter(network, seconds(10))) << network.Describe();
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaDiskTest, AMemberWithoutRoomIsElectedOnlyIfNoOtherIs) {
  ReplicaNetwork network(SafeMembers(3));
  network.RunFor(seconds(5));
  network.SetRoom(1, Room::kFull);
  network.Crash(0);
  network.WriteFor(seconds(4));
  EXPECT_EQ(network.Primary(), MemberIndex{2});
  EXPECT_GT(network.acknowledged_count(), 100u);
  EXPECT_EQ(network.wrong(), "");
}

TEST(SafeReplicaDiskTest, WhatDecaysInOneLogIsLostNowhere) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const int witnesses = seed % 2 == 0 ? 1 : 0;  // which store nothing while they are not needed
    const auto member = static_cast<MemberIndex>(seed % static_cast<uint64_t>(3 - witnesses));
    ReplicaNetwork network(SafeMembers(3, witnesses, seed));
    network.RunFor(seconds(1));
    network.WriteFor(milliseconds(700));
    ASSERT_TRUE(network.Decay(member));
    EXPECT_TRUE(IsWholeAfter(network, seconds(6))) << "seed " << seed << network.Describe();
    // What the others lack now they get from the data, or from another log.
    ASSERT_TRUE(network.Decay(member));
    network.Crash(member == 0 ? 1 : 0);
    network.WriteFor(seconds(4));
    network.Restart(member == 0 ? 1 : 0);
    EXPECT_TRUE(IsWholeAfter(network, seconds(10))) << "seed " << seed << network.Describe();
    EXPECT_GT(network.acknowledged_count(), 1000u) << "seed " << seed;
    EXPECT_EQ(network.wrong(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace neptune
