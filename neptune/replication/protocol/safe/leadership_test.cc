#include "neptune/replication/protocol/safe/leadership.h"

#include <gtest/gtest.h>

#include <vector>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Verdict = Leadership::Verdict;

ReplicaGroup Group(MemberIndex self) {
  ReplicaGroup group;
  group.members.resize(3);
  group.self = self;
  return group;
}

// The primary of three members, by default the first, elected by the first two in epoch 4. Its log
// is empty.
struct Harness {
  explicit Harness(MemberIndex self = 0) : group(Group(self)) {
    leadership.emplace(group, options, log, outbox, store_time);
    for (MemberIndex other = 0; other < 3; ++other) {
      if (other != self) (void)outbox.Meet(other, 100 + other);
    }
    leadership->Begin(4, MemberSet::FirstOf(2).With(self), now);
    (void)Store();
  }
  // Stores everything; returns the messages.
  std::vector<ReplicaMessage> Store() {
    const ProtocolActions actions = outbox.Drain(log);
    log.Stored(actions.change_number);
    std::vector<ReplicaMessage> messages;
    for (const OutgoingMessage& outgoing : actions.at_once) {
      messages.push_back(std::get<ReplicaMessage>(outgoing.message));
    }
    return messages;
  }
  // The member has the log up to `matched`.
  void Answer(MemberIndex from, Lsn matched, TimePoint sent_at) {
    ReplicaMessage answer;
    answer.kind = ReplicaMessageKind::kAppendAnswer;
    answer.epoch = 4;
    answer.yes = true;
    answer.counts = true;
    answer.matched = matched;
    answer.committed = has_data ? log.committed() : 0;
    answer.lacks_room = without_room.contains(from);
    answer.primary_stamp = StampOf(sent_at);
    leadership->CountHoldUps(now);
    leadership->Record(from, answer, now);
  }

  const ReplicaGroup group;
  const SafeReplicaOptions options{};
  bool has_data = true;  // what the members say
  MemberSet without_room;
  TimePoint now{seconds(100)};
  MemberLog log{LogOutline()};
  ReplicaOutbox outbox{group, 9};
  StoreTime store_time;
  std::optional<Leadership> leadership;
};

TEST(LeadershipTest, TermBeginsWithTheWriteSetOfItsVoters) {
  Harness harness;
  EXPECT_EQ(harness.log.last_lsn(), 1u);
  EXPECT_EQ(harness.log.write_set(), MemberSet::FirstOf(2));
  EXPECT_EQ(harness.log.last_epoch(), 4u);
}

TEST(LeadershipTest, CommitsWhatAllOfTheWriteSetHaveStored) {
  Harness harness;
  ASSERT_TRUE(harness.leadership->Propose(LogEntry(), harness.now).ok());
  (void)harness.Store();
  EXPECT_EQ(harness.leadership->Lead(harness.now), Verdict::kContinue);
  EXPECT_EQ(harness.log.committed(), 0u);
  harness.Answer(1, 1, harness.now);
  EXPECT_EQ(harness.leadership->Lead(harness.now), Verdict::kContinue);
  EXPECT_EQ(harness.log.committed(), 1u);
  harness.Answer(1, 2, harness.now);
  EXPECT_EQ(harness.leadership->Lead(harness.now), Verdict::kContinue);
  EXPECT_EQ(harness.log.committed(), 2u);
}

TEST(LeadershipTest, LeaseBeginsWhenAMajorityWasAskedAndNeedsAnEntryOfTheEpoch) {
  Harness harness;
  EXPECT_EQ(harness.leadership->leased_until(), TimePoint::min());
  const TimePoint asked = harness.now;
  harness.now += milliseconds(5);
  harness.Answer(1, 0, asked);
  (void)harness.leadership->Lead(harness.now);
  EXPECT_EQ(harness.leadership->leased_until(), TimePoint::min()) << "nothing is committed";
  harness.Answer(1, 1, asked);
  (void)harness.leadership->Lead(harness.now);
  EXPECT_EQ(harness.leadership->leased_until(), asked + harness.options.lease_duration);
}

TEST(LeadershipTest, ImpossibleAnswersAreIgnored) {
  Harness harness;
  harness.Answer(1, 1, harness.now + milliseconds(1));  // to an append of the future
  harness.Answer(1, 1, harness.now - milliseconds(1));  // to one of an earlier term
  harness.Answer(1, 7, harness.now);                    // more than there is
  (void)harness.leadership->Lead(harness.now);
  EXPECT_EQ(harness.log.committed(), 0u);
}

TEST(LeadershipTest, StepsDownWithoutAMajoritysAnswerUnlessStartedByHand) {
  Harness harness;
  harness.now += 2 * harness.options.election_timeout + milliseconds(1);
  EXPECT_EQ(harness.leadership->Lead(harness.now), Verdict::kStepDown);
  harness.leadership->MarkByHand();
  EXPECT_EQ(harness.leadership->Lead(harness.now), Verdict::kContinue);
  harness.now += harness.options.by_hand_wait_max;
  EXPECT_EQ(harness.leadership->Lead(harness.now), Verdict::kStepDown);
}

TEST(LeadershipTest, HeartbeatsGoToAllOthersWithoutEntriesOfAnUnknownLog) {
  Harness harness;
  harness.now = harness.leadership->NextEvent();
  harness.leadership->HeartbeatIfDue(harness.now);
  const std::vector<OutgoingMessage> sent = harness.outbox.Drain(harness.log).at_once;
  ASSERT_EQ(sent.size(), 2u);
  for (const OutgoingMessage& outgoing : sent) {
    const auto& message = std::get<ReplicaMessage>(outgoing.message);
    EXPECT_EQ(message.kind, ReplicaMessageKind::kAppend);
    EXPECT_EQ(message.to_incarnation, 100u + outgoing.to);
    EXPECT_EQ(message.last_lsn, 1u);
    EXPECT_TRUE(outgoing.entries.empty());
  }
}

TEST(LeadershipTest, MemberThatCatchesUpJoinsTheWriteSet) {
  Harness harness;
  harness.Answer(1, 1, harness.now);
  (void)harness.leadership->Lead(harness.now);
  harness.Answer(2, 0, harness.now);
  (void)harness.leadership->Lead(harness.now);
  harness.Answer(2, 1, harness.now);
  (void)harness.leadership->Lead(harness.now);
  EXPECT_EQ(harness.log.write_set(), MemberSet::FirstOf(3));
  EXPECT_EQ(harness.leadership->needed_from(), 2u);
}

TEST(LeadershipTest, TooManyUncommittedWritesAreRefused) {
  Harness harness;
  for (size_t i = 1; i < harness.options.uncommitted_count_max; ++i) {
    ASSERT_TRUE(harness.leadership->Propose(LogEntry(), harness.now).ok());
  }
  EXPECT_EQ(harness.leadership->Propose(LogEntry(), harness.now).status().code(),
            StatusCode::kResourceExhausted);
}

// Answers for up to three seconds; true if the place was offered. The preferred member has been in
// the write set for long enough then.
bool IsOffered(Harness& harness) {
  for (int i = 0; i < 60; ++i) {
    for (MemberIndex other = 0; other < 3; ++other) {
      if (other == harness.group.self) continue;
      harness.Answer(other, harness.log.last_lsn(), harness.now);
    }
    EXPECT_EQ(harness.leadership->Lead(harness.now), Verdict::kContinue);
    for (const ReplicaMessage& message : harness.Store()) {
      if (message.kind == ReplicaMessageKind::kTakeOver) return true;
    }
    harness.now += milliseconds(50);
  }
  return false;
}

TEST(LeadershipTest, OfferOfThePlaceEndsTheLeaseAndIsReclaimedInTime) {
  Harness harness(1);
  EXPECT_TRUE(IsOffered(harness));
  EXPECT_EQ(harness.leadership->leased_until(), TimePoint::min());
  EXPECT_EQ(harness.leadership->Propose(LogEntry(), harness.now).status().code(),
            StatusCode::kUnavailable);
  harness.now += harness.options.hand_over_max + milliseconds(50);
  for (const MemberIndex other : {0, 2}) {
    harness.Answer(other, harness.log.last_lsn(), harness.now);
  }
  EXPECT_EQ(harness.leadership->Lead(harness.now), Verdict::kReclaim);
}

TEST(LeadershipTest, OffersThePlaceToNoMemberWhoseDataAreBeingRepaired) {
  Harness harness(1);
  harness.has_data = false;
  EXPECT_FALSE(IsOffered(harness));
  harness.has_data = true;
  EXPECT_TRUE(IsOffered(harness));
}

TEST(LeadershipTest, PrimaryWithoutRoomOffersItsPlaceToAMemberWithRoom) {
  Harness harness(0);
  EXPECT_FALSE(IsOffered(harness));
  harness.leadership->NoteRoom(false);
  harness.without_room = MemberSet().With(1).With(2);
  EXPECT_FALSE(IsOffered(harness)) << "no other member has room";
  harness.without_room = MemberSet().With(1);
  const TimePoint began_at = harness.now;
  EXPECT_TRUE(IsOffered(harness));
  EXPECT_LT(harness.now - began_at, milliseconds(100)) << "at once";
}

TEST(LeadershipTest, MemberThatIsElectedWithoutRoomOffersThePlaceSoon) {
  Harness harness(1);
  harness.leadership->NoteRoom(false);
  harness.without_room = MemberSet().With(0);
  harness.leadership->Begin(4, MemberSet::FirstOf(3), harness.now);
  const TimePoint began_at = harness.now;
  EXPECT_TRUE(IsOffered(harness));
  EXPECT_LT(harness.now - began_at, milliseconds(500));
}

TEST(LeadershipTest, PreferredMemberWithoutRoomIsOfferedThePlaceOnlyWhenItHasRoomAgain) {
  Harness harness(1);
  harness.without_room = MemberSet().With(0);
  EXPECT_FALSE(IsOffered(harness));
  harness.without_room = MemberSet();
  EXPECT_TRUE(IsOffered(harness));
}

TEST(LeadershipTest, LargeLogIsKeptOnlyForMembersThatAnswerAndThatItReaches) {
  Harness harness;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(harness.leadership->Propose(LogEntry(), harness.now).ok());
  }
  (void)harness.Store();
  ASSERT_EQ(harness.log.last_lsn(), 6u);
  harness.Answer(1, 6, harness.now);
  harness.Answer(2, 4, harness.now);
  EXPECT_EQ(harness.leadership->NeededByPresent(harness.now), 5u);
  harness.now += seconds(1);
  harness.Answer(1, 6, harness.now);
  EXPECT_EQ(harness.leadership->NeededByPresent(harness.now), 7u) << "member 2 is silent";
  EXPECT_EQ(harness.leadership->needed_from(), 5u);
  harness.Answer(2, 4, harness.now);
  EXPECT_EQ(harness.leadership->NeededByPresent(harness.now), 5u);
  harness.log.DropBefore(6);
  EXPECT_EQ(harness.leadership->NeededByPresent(harness.now), 7u) << "it needs a snapshot";
}

}  // namespace
}  // namespace neptune
