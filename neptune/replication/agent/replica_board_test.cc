#include "neptune/replication/agent/replica_board.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kNow{seconds(100)};

ReplicaStatus Primary(Epoch epoch, Lsn committed) {
  ReplicaStatus status;
  status.role = ReplicaRole::kPrimary;
  status.epoch = epoch;
  status.primary = 0;
  status.committed = committed;
  status.leased_until = kNow + seconds(1);
  return status;
}

TEST(ReplicaBoardTest, LeaseIsShownOnceTheDataHaveWhatWasCommittedWhenItWasFirstHeld) {
  ReplicaBoard board;
  board.Publish(Primary(3, 10), {.executed = 7}, kNow);
  EXPECT_FALSE(board.state().IsLeased(kNow));
  board.Publish(Primary(3, 12), {.executed = 9}, kNow);
  EXPECT_FALSE(board.state().IsLeased(kNow));
  board.Publish(Primary(3, 20), {.executed = 10}, kNow);
  EXPECT_TRUE(board.state().IsLeased(kNow)) << "later writes are its own";
  board.Publish(Primary(4, 20), {.executed = 19}, kNow);
  EXPECT_FALSE(board.state().IsLeased(kNow)) << "another epoch";
}

TEST(ReplicaBoardTest, ReportsChangesOfRolePrimaryAndEpochOnly) {
  ReplicaBoard board;
  EXPECT_TRUE(board.Publish(Primary(3, 1), {}, kNow));
  EXPECT_FALSE(board.Publish(Primary(3, 2), {.executed = 2}, kNow));
  EXPECT_TRUE(board.Publish(Primary(4, 2), {.executed = 2}, kNow));
  EXPECT_EQ(board.leader().epoch, 4u);
  EXPECT_EQ(board.leader().primary, MemberIndex{0});
}

TEST(ReplicaBoardTest, DataAreCurrentOnceTheyHaveWhatWasCommittedThen) {
  ReplicaBoard board;
  ReplicaStatus secondary;
  secondary.role = ReplicaRole::kSecondary;
  secondary.freshness = ReplicaFreshness{.committed = 5, .as_of = kNow};
  board.Publish(secondary, {.executed = 4}, kNow);
  EXPECT_EQ(board.state().current_as_of, TimePoint::min());
  board.Publish(secondary, {.executed = 5}, kNow);
  EXPECT_EQ(board.state().current_as_of, kNow);
  board.BeginRestore();
  EXPECT_EQ(board.state().current_as_of, TimePoint::min());
  EXPECT_TRUE(board.state().is_restoring);
  board.EndRestore();
  EXPECT_FALSE(board.state().is_restoring);
}

TEST(ReplicaBoardTest, FailureEndsTheLease) {
  ReplicaBoard board;
  board.Publish(Primary(3, 1), {.executed = 1}, kNow);
  board.Fail(DataLoss("damaged"));
  EXPECT_FALSE(board.state().IsLeased(kNow));
  EXPECT_EQ(board.state().failure.code(), StatusCode::kDataLoss);
}

TEST(ReplicaBoardTest, PrimaryRemembersItsVersions) {
  ReplicaBoard board;
  for (int i = 0; i < 10; ++i) {
    board.Publish(Primary(3, 0), {.executed = static_cast<Lsn>(i)}, kNow + i * milliseconds(20));
  }
  const TimePoint end = kNow + milliseconds(180);
  EXPECT_EQ(board.VersionAgo(Duration{0}, end), 9u);
  EXPECT_EQ(board.VersionAgo(milliseconds(50), end), 6u);
  EXPECT_EQ(board.VersionAgo(seconds(5), end), 0u);
  ReplicaStatus secondary;
  secondary.role = ReplicaRole::kSecondary;
  board.Publish(secondary, {.executed = 9}, end);
  EXPECT_EQ(board.VersionAgo(Duration{0}, end), 0u);
}

}  // namespace
}  // namespace neptune
