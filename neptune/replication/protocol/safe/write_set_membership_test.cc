#include "neptune/replication/protocol/safe/write_set_membership.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

ReplicaGroup Group(int count, int witness_count) {
  ReplicaGroup group;
  group.members.resize(static_cast<size_t>(count));
  for (int i = 0; i < witness_count; ++i) group.members[count - 1 - i].is_witness = true;
  return group;
}

// The write set of a primary, member 0, whose other members answer in a millisecond.
struct Harness {
  explicit Harness(int count = 3, int witness_count = 0) : group(Group(count, witness_count)) {
    contact.Begin(now);
    membership.Begin(now);
    for (MemberIndex member = 1; member < count; ++member) Answer(member);
  }
  void Answer(MemberIndex member, Duration took = milliseconds(1)) {
    ReplicaMessage answer;
    answer.counts = true;
    contact.Record(member, answer, now - took, now);
  }
  // For `time`, only this member has not stored an entry.
  void HoldUp(MemberIndex member, Duration time) {
    StoredPositions stored;
    stored.last = ++last;
    stored.by_member.fill(last);
    stored.by_member[member] = last - 1;
    membership.CountHoldUps(all(), stored, contact, now);
    now += time;
    membership.CountHoldUps(all(), stored, contact, now);
    stored.by_member[member] = last;
    membership.CountHoldUps(all(), stored, contact, now);
  }
  MemberSet WithReturning(MemberSet members) {
    return membership.WithReturning(members, all(), contact, now);
  }
  MemberSet all() const { return MemberSet::FirstOf(group.size()); }

  const ReplicaGroup group;
  const SafeReplicaOptions options{};
  TimePoint now{seconds(100)};
  Lsn last = 10;
  QuorumContact contact{group};
  WriteSetMembership membership{group, options};
};

TEST(StoredPositionsTest, LowestIsOfTheMembersGiven) {
  StoredPositions stored;
  stored.last = 9;
  stored.by_member = {9, 4, 7};
  EXPECT_EQ(stored.LowestOf(MemberSet::FirstOf(3)), 4u);
  EXPECT_EQ(stored.LowestOf(MemberSet::FirstOf(3).Without(1)), 7u);
  EXPECT_EQ(stored.LowestOf(MemberSet()), 9u);
}

TEST(WriteSetMembershipTest, MemberThatDelaysWritesUsesUpItsBudget) {
  Harness harness;
  harness.HoldUp(2, milliseconds(100));
  EXPECT_FALSE(harness.membership.IsOverBudget(2));
  harness.HoldUp(2, milliseconds(100));
  EXPECT_TRUE(harness.membership.IsOverBudget(2));
  EXPECT_FALSE(harness.membership.IsOverBudget(1));
}

TEST(WriteSetMembershipTest, EveryWriteHasPatienceAndTimeForgives) {
  Harness harness;
  for (int i = 0; i < 100; ++i) harness.HoldUp(2, milliseconds(10));
  EXPECT_FALSE(harness.membership.IsOverBudget(2)) << "within the time that a write may take";
  harness.HoldUp(2, milliseconds(250));
  EXPECT_TRUE(harness.membership.IsOverBudget(2));
  harness.now += seconds(3);
  harness.HoldUp(2, milliseconds(0));
  EXPECT_FALSE(harness.membership.IsOverBudget(2));
}

TEST(WriteSetMembershipTest, LargerSetForgivesDelaysOfASetThatCouldNotDoWithout) {
  Harness harness;
  harness.HoldUp(1, milliseconds(500));
  harness.membership.Change(MemberSet::FirstOf(2), harness.all(), harness.now);
  EXPECT_FALSE(harness.membership.IsOverBudget(1));
}

TEST(WriteSetMembershipTest, SetNeverBecomesSmallerThanAMajority) {
  Harness harness;
  const auto rest = harness.membership.Expel(2, harness.all(), harness.contact, harness.now);
  ASSERT_TRUE(rest.has_value());
  EXPECT_EQ(*rest, MemberSet::FirstOf(2));
  EXPECT_FALSE(harness.membership.Expel(1, *rest, harness.contact, harness.now).has_value());
}

TEST(WriteSetMembershipTest, WitnessThatIsHeardStepsInForAMajority) {
  Harness harness(3, 1);
  const MemberSet replicas = MemberSet::FirstOf(2);
  const auto rest = harness.membership.Expel(1, replicas, harness.contact, harness.now);
  ASSERT_TRUE(rest.has_value());
  EXPECT_EQ(*rest, MemberSet().With(0).With(2));
  harness.now += seconds(1);
  EXPECT_FALSE(harness.membership.Expel(1, replicas, harness.contact, harness.now).has_value())
      << "a silent witness";
}

TEST(WriteSetMembershipTest, NeedlessWitnessLeaves) {
  Harness harness(3, 1);
  EXPECT_EQ(harness.membership.WithoutNeedlessWitness(harness.all()), MemberSet::FirstOf(2));
  const MemberSet needed = MemberSet().With(0).With(2);
  EXPECT_EQ(harness.membership.WithoutNeedlessWitness(needed), needed);
}

TEST(WriteSetMembershipTest, ReturnDelayDoublesUntilAMemberHasBehaved) {
  Harness harness;
  const MemberSet rest = MemberSet::FirstOf(2);
  for (const Duration delay : {seconds(1), seconds(2), seconds(4)}) {
    ASSERT_TRUE(harness.membership.Expel(2, harness.all(), harness.contact, harness.now));
    harness.now += delay - milliseconds(1);
    harness.Answer(2);
    EXPECT_EQ(harness.WithReturning(rest), rest);
    harness.now += milliseconds(1);
    EXPECT_EQ(harness.WithReturning(rest), harness.all());
    harness.membership.Change(rest, harness.all(), harness.now);
  }
  harness.now += minutes(2);
  ASSERT_TRUE(harness.membership.Expel(2, harness.all(), harness.contact, harness.now));
  harness.now += seconds(1);
  harness.Answer(2);
  EXPECT_EQ(harness.WithReturning(rest), harness.all());
}

TEST(WriteSetMembershipTest, SlowSilentOrLaggingMemberDoesNotReturn) {
  Harness harness;
  const MemberSet rest = MemberSet::FirstOf(2);
  EXPECT_EQ(harness.membership.WithReturning(rest, rest, harness.contact, harness.now), rest);
  harness.now += milliseconds(101);
  EXPECT_EQ(harness.WithReturning(rest), rest) << "has missed two heartbeats";
  for (int i = 0; i < 50; ++i) {
    harness.now += milliseconds(500);
    harness.Answer(2, milliseconds(60));
  }
  EXPECT_EQ(harness.WithReturning(rest), rest) << "slower than the others";
}

}  // namespace
}  // namespace neptune
