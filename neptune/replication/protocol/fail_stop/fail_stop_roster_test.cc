#include "neptune/replication/protocol/fail_stop/fail_stop_roster.h"

#include <gtest/gtest.h>

#include <set>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kNow{seconds(100)};
constexpr Duration kTimeout = milliseconds(350);

ReplicaGroup Group(MemberIndex self) {
  ReplicaGroup group;
  group.members.resize(3);
  group.self = self;
  return group;
}

TEST(FailStopRosterTest, SilentMemberCountsAsStopped) {
  const ReplicaGroup group = Group(0);
  FailStopRoster roster(group, kTimeout);
  EXPECT_TRUE(roster.lives(0, kNow)) << "itself";
  EXPECT_FALSE(roster.lives(1, kNow)) << "not heard yet";
  roster.Hear(1, 0, kNow);
  EXPECT_TRUE(roster.lives(1, kNow + kTimeout - milliseconds(1)));
  EXPECT_FALSE(roster.lives(1, kNow + kTimeout));
  roster.SetAlive(MemberSet().With(0).With(2));
  EXPECT_FALSE(roster.lives(1, kNow)) << "stopped according to another source";
}

TEST(FailStopRosterTest, MostPreferredLiveMemberThatTakesPartIsPreferred) {
  const ReplicaGroup group = Group(2);
  FailStopRoster roster(group, kTimeout);
  roster.Hear(0, 0, kNow);
  EXPECT_TRUE(roster.IsPreferred(kNow)) << "member 0 does not take part";
  roster.SetOperational(0, true);
  EXPECT_FALSE(roster.IsPreferred(kNow));
  EXPECT_TRUE(roster.IsPreferred(kNow + kTimeout));
}

TEST(FailStopRosterTest, WitnessIsNeverPreferred) {
  ReplicaGroup group = Group(2);
  group.members[2].is_witness = true;
  EXPECT_FALSE(FailStopRoster(group, kTimeout).IsPreferred(kNow));
}

TEST(FailStopRosterTest, FirstMemberStartsANewPartitionOnceAllAreBlank) {
  const ReplicaGroup group = Group(0);
  FailStopRoster roster(group, kTimeout);
  roster.NoteBlank(1);
  EXPECT_FALSE(roster.AllAreBlank());
  roster.NoteBlank(2);
  EXPECT_TRUE(roster.AllAreBlank());
  roster.Forget(2);
  EXPECT_FALSE(roster.AllAreBlank());
}

TEST(FailStopRosterTest, NoTwoMembersChooseOneEpoch) {
  std::set<Epoch> chosen;
  for (const MemberIndex self : {0, 1, 2}) {
    const ReplicaGroup group = Group(self);
    FailStopRoster roster(group, kTimeout);
    roster.Hear(self == 0 ? 1 : 0, 40, kNow);
    const Epoch epoch = roster.NextEpoch(/*promised=*/7);
    EXPECT_GT(epoch, 40u);
    chosen.insert(epoch);
  }
  EXPECT_EQ(chosen.size(), 3u);
}

}  // namespace
}  // namespace neptune
