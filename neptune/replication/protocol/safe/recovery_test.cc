#include "neptune/replication/protocol/safe/recovery.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Finding = Recovery::Finding;

constexpr TimePoint kNow{seconds(100)};
constexpr Duration kInterval = milliseconds(100);

ReplicaGroup Group(int count) {
  ReplicaGroup group;
  group.members.resize(static_cast<size_t>(count));
  return group;
}

ReplicaMessage Answer(bool is_blank, bool participates, Epoch epoch = 0) {
  ReplicaMessage answer;
  answer.kind = ReplicaMessageKind::kHelloAnswer;
  answer.yes = is_blank;
  answer.counts = participates;
  answer.epoch = epoch;
  return answer;
}

ReplicaMessage Append(Epoch epoch, Lsn last_lsn, bool by_hand = false) {
  ReplicaMessage append;
  append.kind = ReplicaMessageKind::kAppend;
  append.epoch = epoch;
  append.last_lsn = last_lsn;
  append.by_hand = by_hand;
  return append;
}

TEST(RecoveryTest, GreetsUntilItIsSettledAndAgainWhenAsked) {
  const ReplicaGroup group = Group(3);
  Recovery recovery(group, kInterval, kNow);
  EXPECT_TRUE(recovery.Greet(false, kNow));
  EXPECT_FALSE(recovery.Greet(false, kNow + milliseconds(99)));
  EXPECT_TRUE(recovery.Greet(false, kNow + kInterval));
  EXPECT_FALSE(recovery.Greet(true, kNow + 3 * kInterval));
  EXPECT_EQ(recovery.hello_at(), kNever);
  recovery.GreetAgain(kNow + seconds(1));
  EXPECT_TRUE(recovery.Greet(false, kNow + seconds(1)));
}

TEST(RecoveryTest, GreetsLessOftenUntilAnotherMemberIsHeard) {
  const ReplicaGroup group = Group(3);
  Recovery recovery(group, kInterval, kNow);
  TimePoint now = kNow;
  for (const int pause : {1, 2, 4, 4}) {
    EXPECT_TRUE(recovery.Greet(false, now));
    EXPECT_EQ(recovery.hello_at(), now + pause * kInterval);
    now += pause * kInterval;
  }
  EXPECT_TRUE(recovery.Greet(false, now));
  recovery.OnMessageFromMember(now);
  EXPECT_EQ(recovery.hello_at(), now + kInterval);
  EXPECT_TRUE(recovery.Greet(false, now + kInterval));
  EXPECT_EQ(recovery.hello_at(), now + 2 * kInterval);
}

TEST(RecoveryTest, SingleMemberGreetsNone) {
  const ReplicaGroup group = Group(1);
  EXPECT_EQ(Recovery(group, kInterval, kNow).hello_at(), kNever);
}

TEST(RecoveryTest, PartitionIsNewOnlyIfAllMembersAreBlank) {
  const ReplicaGroup group = Group(3);
  Recovery recovery(group, kInterval, kNow);
  EXPECT_EQ(recovery.OnAnswer(1, Answer(true, false), true), Finding::kNothing);
  EXPECT_EQ(recovery.OnAnswer(1, Answer(true, false), true), Finding::kNothing);
  EXPECT_EQ(recovery.OnAnswer(2, Answer(true, false), true), Finding::kAllAreBlank);
}

TEST(RecoveryTest, OneMemberWithAPastMeansThatTheDiskWasLost) {
  const ReplicaGroup group = Group(3);
  Recovery recovery(group, kInterval, kNow);
  EXPECT_EQ(recovery.OnAnswer(1, Answer(false, true, 4), true), Finding::kOthersAreOlder);
  EXPECT_EQ(recovery.OnAnswer(2, Answer(true, false), false), Finding::kNothing);
}

TEST(RecoveryTest, FollowsOnlyAPrimaryThatAMajoritysPromisesAllow) {
  const ReplicaGroup group = Group(3);
  Recovery recovery(group, kInterval, kNow);
  (void)recovery.OnAnswer(1, Answer(false, true, 4), false);
  EXPECT_FALSE(recovery.MayFollow(Append(9, 0))) << "one of two others is not a majority of three";
  (void)recovery.OnAnswer(2, Answer(false, true, 6), false);
  EXPECT_EQ(recovery.largest_epoch(), 6u);
  EXPECT_FALSE(recovery.MayFollow(Append(5, 0)));
  EXPECT_TRUE(recovery.MayFollow(Append(6, 0)));
}

TEST(RecoveryTest, OperatorsWordReplacesAMajoritys) {
  const ReplicaGroup group = Group(3);
  Recovery recovery(group, kInterval, kNow);
  (void)recovery.OnAnswer(1, Answer(false, true, 4), false);
  EXPECT_FALSE(recovery.MayFollow(Append(3, 0, /*by_hand=*/true)));
  EXPECT_TRUE(recovery.MayFollow(Append(4, 0, /*by_hand=*/true)));
}

TEST(RecoveryTest, CatchesUpWithTheLogAsItWasWhenItBeganToFollow) {
  const ReplicaGroup group = Group(3);
  Recovery recovery(group, kInterval, kNow);
  EXPECT_FALSE(recovery.HasCaughtUp(Append(4, 20), 10));
  EXPECT_FALSE(recovery.HasCaughtUp(Append(5, 30), 25)) << "another primary, another goal";
  EXPECT_TRUE(recovery.HasCaughtUp(Append(5, 40), 30)) << "the goal does not move";
}

}  // namespace
}  // namespace neptune
