#include "neptune/replication/protocol/safe/hand_over.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Member `self` of three is the primary since `now`.
struct Harness {
  explicit Harness(MemberIndex self) {
    group.members.resize(3);
    group.self = self;
    hand_over.Begin(now);
  }
  void Search(MemberSet able, MemberSet settled, bool must_go = false) {
    hand_over.Search({.able = able, .settled = settled, .must_go = must_go}, now);
  }

  ReplicaGroup group;
  const SafeReplicaOptions options{};
  TimePoint now{seconds(100)};
  HandOver hand_over{group, options};
};

TEST(HandOverTest, SearchWaitsUnlessThePrimaryIsAWitness) {
  Harness harness(1);
  EXPECT_FALSE(harness.hand_over.MaySearch(harness.now));
  EXPECT_TRUE(harness.hand_over.MaySearch(harness.now + harness.options.hand_over_delay));
  harness.group.members[1].is_witness = true;
  EXPECT_TRUE(harness.hand_over.MaySearch(harness.now));
}

TEST(HandOverTest, MostPreferredSettledMemberIsTheSuccessor) {
  Harness harness(2);
  harness.Search(MemberSet::FirstOf(2), MemberSet().With(1));
  EXPECT_EQ(harness.hand_over.successor(), MemberIndex{1});
  EXPECT_EQ(harness.hand_over.ends_at(), harness.now + harness.options.hand_over_max);
  EXPECT_FALSE(harness.hand_over.MaySearch(harness.now + seconds(60))) << "it is under way";
}

TEST(HandOverTest, LessPreferredMemberLeadsOnlyIfThePrimaryMustGo) {
  Harness harness(0);
  const MemberSet others = MemberSet().With(1).With(2);
  harness.Search(others, others);
  EXPECT_EQ(harness.hand_over.successor(), std::nullopt);
  EXPECT_EQ(harness.hand_over.ends_at(), kNever);
  harness.Search(others, MemberSet(), /*must_go=*/true);
  EXPECT_EQ(harness.hand_over.successor(), MemberIndex{1});
}

TEST(HandOverTest, GivenUpOfferIsReportedAndTheNextSearchWaits) {
  Harness harness(1);
  harness.Search(MemberSet().With(0), MemberSet().With(0));
  EXPECT_FALSE(harness.hand_over.GiveUp(harness.now)) << "it was not offered";
  harness.Search(MemberSet().With(0), MemberSet().With(0));
  harness.hand_over.NoteOffered();
  EXPECT_TRUE(harness.hand_over.GiveUp(harness.now));
  EXPECT_FALSE(harness.hand_over.was_offered());
  EXPECT_FALSE(harness.hand_over.MaySearch(harness.now + milliseconds(1)));
}

TEST(HandOverTest, EndOfTheTermEndsTheHandOver) {
  Harness harness(1);
  harness.Search(MemberSet().With(0), MemberSet().With(0));
  harness.hand_over.NoteOffered();
  harness.hand_over.End();
  EXPECT_EQ(harness.hand_over.successor(), std::nullopt);
  EXPECT_FALSE(harness.hand_over.was_offered());
}

}  // namespace
}  // namespace neptune
