#include "neptune/replication/protocol/safe/quorum_contact.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kNow{seconds(100)};

ReplicaGroup Group(int count) {
  ReplicaGroup group;
  group.members.resize(static_cast<size_t>(count));
  return group;
}

// An answer, received `took` after `sent_at`.
void Answer(QuorumContact& contact, MemberIndex from, TimePoint sent_at, Duration took,
            bool counts = true) {
  ReplicaMessage answer;
  answer.counts = counts;
  contact.Record(from, answer, sent_at, sent_at + took);
}

TEST(QuorumContactTest, SingleMemberIsItsOwnMajority) {
  const ReplicaGroup group = Group(1);
  QuorumContact contact(group);
  contact.Begin(kNow);
  EXPECT_EQ(contact.MajorityAnsweredFor(), kNever);
}

TEST(QuorumContactTest, MajorityAnswersForTheAppendThatAllOfItHasAnswered) {
  const ReplicaGroup group = Group(5);
  QuorumContact contact(group);
  contact.Begin(kNow);
  Answer(contact, 1, kNow + milliseconds(30), milliseconds(1));
  EXPECT_EQ(contact.MajorityAnsweredFor(), TimePoint::min());
  Answer(contact, 2, kNow + milliseconds(10), milliseconds(1));
  EXPECT_EQ(contact.MajorityAnsweredFor(), kNow + milliseconds(10));
  Answer(contact, 3, kNow + milliseconds(20), milliseconds(1));
  EXPECT_EQ(contact.MajorityAnsweredFor(), kNow + milliseconds(20));
}

TEST(QuorumContactTest, LateAnswerToAnOldAppendDoesNotMoveTheLeaseBack) {
  const ReplicaGroup group = Group(3);
  QuorumContact contact(group);
  contact.Begin(kNow);
  Answer(contact, 1, kNow + milliseconds(50), milliseconds(1));
  Answer(contact, 1, kNow + milliseconds(10), milliseconds(60));
  EXPECT_EQ(contact.MajorityAnsweredFor(), kNow + milliseconds(50));
}

TEST(QuorumContactTest, MembersThatDoNotCountConfirmNothing) {
  const ReplicaGroup group = Group(3);
  QuorumContact contact(group);
  contact.Begin(kNow);
  Answer(contact, 1, kNow, milliseconds(1), /*counts=*/false);
  EXPECT_FALSE(contact.counts(1));
  EXPECT_EQ(contact.MajorityAnsweredFor(), TimePoint::min());
  EXPECT_EQ(contact.MajorityAnswerTime(), Duration::max());
}

TEST(QuorumContactTest, RestartedMemberMustAnswerAgain) {
  const ReplicaGroup group = Group(3);
  QuorumContact contact(group);
  contact.Begin(kNow);
  Answer(contact, 1, kNow, milliseconds(1));
  contact.Forget(1, kNow + seconds(1));
  EXPECT_EQ(contact.MajorityAnsweredFor(), TimePoint::min());
  EXPECT_EQ(contact.SilenceOf(1, kNow + seconds(3)), seconds(2));
}

TEST(QuorumContactTest, MajorityAnswerTimeIsThatOfTheQuickestMajority) {
  const ReplicaGroup group = Group(3);
  QuorumContact contact(group);
  contact.Begin(kNow);
  Answer(contact, 1, kNow, milliseconds(80));
  Answer(contact, 2, kNow, milliseconds(8));
  EXPECT_EQ(contact.MajorityAnswerTime(), milliseconds(8));
}

TEST(QuorumContactTest, AnswerTimeIsSmoothed) {
  const ReplicaGroup group = Group(2);
  QuorumContact contact(group);
  contact.Begin(kNow);
  Answer(contact, 1, kNow, milliseconds(8));
  Answer(contact, 1, kNow + seconds(1), milliseconds(16));
  EXPECT_EQ(contact.answer_time(1), milliseconds(9));
}

}  // namespace
}  // namespace neptune
