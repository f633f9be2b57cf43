#include "neptune/replication/protocol/replica_outbox.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

ReplicaGroup Group() {
  ReplicaGroup group;
  group.members.resize(3);
  return group;
}

ReplicaMessage From(uint64_t incarnation, uint64_t to_incarnation, ReplicaMessageKind kind) {
  ReplicaMessage message;
  message.kind = kind;
  message.from_incarnation = incarnation;
  message.to_incarnation = to_incarnation;
  return message;
}

TEST(ReplicaOutboxTest, MessagesForAnEarlierLifeAreNotHandled) {
  const ReplicaGroup group = Group();
  const ReplicaOutbox outbox(group, 9);
  EXPECT_TRUE(outbox.IsForThis(1, From(5, 9, ReplicaMessageKind::kVote)));
  EXPECT_FALSE(outbox.IsForThis(1, From(5, 8, ReplicaMessageKind::kVote)));
  EXPECT_TRUE(outbox.IsForThis(1, From(5, 8, ReplicaMessageKind::kHello)));
  EXPECT_FALSE(outbox.IsForThis(1, From(0, 9, ReplicaMessageKind::kVote)));
  EXPECT_FALSE(outbox.IsForThis(0, From(5, 9, ReplicaMessageKind::kVote))) << "from itself";
  EXPECT_FALSE(outbox.IsForThis(3, From(5, 9, ReplicaMessageKind::kVote))) << "no member";
}

TEST(ReplicaOutboxTest, RestartOfAMemberIsNoticedOnce) {
  const ReplicaGroup group = Group();
  ReplicaOutbox outbox(group, 9);
  EXPECT_FALSE(outbox.Knows(1));
  EXPECT_TRUE(outbox.Meet(1, 5));
  EXPECT_FALSE(outbox.Meet(1, 5));
  EXPECT_TRUE(outbox.Meet(1, 6));
  EXPECT_EQ(outbox.Make(ReplicaMessageKind::kVote, 1, 4).to_incarnation, 6u);
}

TEST(ReplicaOutboxTest, DrainsMessagesWithTheirEntriesAndTheChange) {
  const ReplicaGroup group = Group();
  ReplicaOutbox outbox(group, 9);
  MemberLog log{LogOutline()};
  log.Promise({.is_founded = true, .epoch = 3});
  ReplicaMessage append = outbox.Make(ReplicaMessageKind::kAppend, 1, 3);
  append.prev_lsn = 4;
  outbox.SendAtOnce(1, append, /*entries_to=*/4);
  outbox.SendAtOnce(2, append, /*entries_to=*/7);
  outbox.SendAfterStored(1, outbox.Make(ReplicaMessageKind::kVote, 1, 3));
  outbox.RequestRestore(2);
  const ProtocolActions actions = outbox.Drain(log);
  ASSERT_EQ(actions.at_once.size(), 2u);
  EXPECT_TRUE(actions.at_once[0].entries.empty());
  ASSERT_EQ(actions.at_once[1].entries.size(), 1u);
  EXPECT_EQ(actions.at_once[1].entries[0].first, 5u);
  EXPECT_EQ(actions.at_once[1].entries[0].last, 7u);
  EXPECT_EQ(actions.after_stored.size(), 1u);
  EXPECT_EQ(actions.restore_from, MemberIndex{2});
  EXPECT_EQ(actions.change_number, 1u);
  EXPECT_TRUE(actions.change.promise.has_value());
  EXPECT_TRUE(outbox.Drain(log).empty());
}

}  // namespace
}  // namespace neptune
