#include "neptune/replication/protocol/safe/election.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Result = Election::Result;

ReplicaGroup Group(MemberIndex self, int count) {
  ReplicaGroup group;
  group.members.resize(static_cast<size_t>(count));
  group.self = self;
  return group;
}

// A member of a partition whose log ends with entry 5 of epoch 3.
struct Harness {
  explicit Harness(MemberIndex self = 0, int count = 3, bool is_founded = true)
      : group(Group(self, count)) {
    election.emplace(
        group, options, log, outbox, store_time,
        Election::Start{.promise = {.is_founded = is_founded, .epoch = 3}, .seed = 7, .now = now});
    for (MemberIndex other = 0; other < count; ++other) {
      if (other != self) (void)outbox.Meet(other, 100 + other);
    }
  }
  static LogOutline Found() {
    LogOutline found;
    found.last_lsn = 5;
    found.epochs = {{1, 3}};
    return found;
  }
  ReplicaMessage Ask(Epoch epoch, Lsn last = 5, Epoch last_epoch = 3) const {
    ReplicaMessage ask;
    ask.kind = ReplicaMessageKind::kAskVote;
    ask.epoch = epoch;
    ask.prev_lsn = last;
    ask.prev_epoch = last_epoch;
    return ask;
  }
  ReplicaMessage Vote(Epoch epoch, bool is_trial) const {
    ReplicaMessage vote;
    vote.kind = ReplicaMessageKind::kVote;
    vote.epoch = epoch;
    vote.trial = is_trial;
    vote.yes = true;
    return vote;
  }

  const ReplicaGroup group;
  const SafeReplicaOptions options{};
  TimePoint now{seconds(100)};
  MemberLog log{Found()};
  ReplicaOutbox outbox{group, 9};
  StoreTime store_time;
  std::optional<Election> election;
};

TEST(ElectionTest, PreferredMemberHasTheShorterTimeoutWhateverIsDrawn) {
  Harness first(0);
  Harness second(1);
  first.election->Await(first.now);
  second.election->Await(second.now);
  EXPECT_GE(first.election->due_at(), first.now + first.options.election_timeout);
  EXPECT_LT(first.election->due_at() + milliseconds(29), second.election->due_at());
}

TEST(ElectionTest, MemberThatLostItsPromisesAwaitsNothing) {
  Harness harness(0, 3, /*is_founded=*/false);
  harness.election->Await(harness.now);
  EXPECT_EQ(harness.election->due_at(), kNever);
  harness.election->TakePart();
  harness.election->Await(harness.now);
  EXPECT_LT(harness.election->due_at(), kNever);
}

TEST(ElectionTest, MemberThatHeardAPrimaryDoesNotVoteUnlessThatPrimaryHandedOver) {
  Harness harness;
  harness.election->OnMessageFromPrimary(harness.now);
  ReplicaMessage ask = harness.Ask(4);
  EXPECT_FALSE(harness.election->MayVote(ask, false, harness.now + milliseconds(349)));
  EXPECT_TRUE(harness.election->MayVote(ask, false, harness.now + milliseconds(350)));
  EXPECT_FALSE(harness.election->MayVote(ask, /*is_primary=*/true, harness.now + seconds(9)));
  ask.hand_over = true;
  EXPECT_TRUE(harness.election->MayVote(ask, false, harness.now));
}

TEST(ElectionTest, TrialPromisesNothing) {
  Harness harness;
  EXPECT_TRUE(harness.election->WouldGrant(harness.Ask(4), false, harness.now + seconds(1)));
  EXPECT_FALSE(harness.election->WouldGrant(harness.Ask(3), false, harness.now + seconds(1)));
  EXPECT_EQ(harness.election->epoch(), 3u);
  EXPECT_TRUE(harness.log.NextChange().change.empty());
}

TEST(ElectionTest, VotesOncePerEpoch) {
  Harness harness;
  harness.election->Promise(4);
  EXPECT_TRUE(harness.election->Grant(1, harness.Ask(4), false, harness.now));
  EXPECT_TRUE(harness.election->Grant(1, harness.Ask(4), false, harness.now)) << "the same again";
  EXPECT_FALSE(harness.election->Grant(2, harness.Ask(4), false, harness.now));
  const LogChange change = harness.log.NextChange().change;
  ASSERT_TRUE(change.promise.has_value());
  EXPECT_EQ(change.promise->voted_for, MemberIndex{1});
}

TEST(ElectionTest, VotesForNoCandidateWithAnOlderLog) {
  Harness harness;
  harness.election->Promise(4);
  EXPECT_FALSE(harness.election->Grant(1, harness.Ask(4, 4, 3), false, harness.now));
  EXPECT_FALSE(harness.election->Grant(1, harness.Ask(4, 9, 2), false, harness.now));
  EXPECT_TRUE(harness.election->Grant(1, harness.Ask(4, 1, 4), false, harness.now));
}

TEST(ElectionTest, CandidacyIsWonByAMajorityOfItsOwnVotes) {
  Harness harness(0, 5);
  EXPECT_EQ(harness.election->Ask({.is_trial = true}, harness.now), Result::kOpen);
  EXPECT_EQ(harness.election->epoch(), 3u);
  EXPECT_EQ(harness.election->Count(1, harness.Vote(4, true)), Result::kOpen);
  EXPECT_EQ(harness.election->Count(1, harness.Vote(4, true)), Result::kOpen) << "twice";
  EXPECT_EQ(harness.election->Count(2, harness.Vote(4, true)), Result::kTrial);
  EXPECT_EQ(harness.election->Ask({.is_trial = false}, harness.now), Result::kOpen);
  EXPECT_EQ(harness.election->epoch(), 4u);
  EXPECT_EQ(harness.election->Count(3, harness.Vote(4, true)), Result::kOpen) << "of the trial";
  EXPECT_EQ(harness.election->Count(3, harness.Vote(4, false)), Result::kOpen);
  EXPECT_EQ(harness.election->Count(4, harness.Vote(4, false)), Result::kElected);
  EXPECT_EQ(harness.election->votes(), MemberSet().With(0).With(3).With(4));
}

TEST(ElectionTest, RequestsWaitForThePromise) {
  Harness harness;
  (void)harness.election->Ask({.is_trial = false, .is_hand_over = true}, harness.now);
  const ProtocolActions actions = harness.outbox.Drain(harness.log);
  EXPECT_TRUE(actions.at_once.empty());
  ASSERT_EQ(actions.after_stored.size(), 2u);
  const auto& ask = std::get<ReplicaMessage>(actions.after_stored[0].message);
  EXPECT_EQ(ask.epoch, 4u);
  EXPECT_TRUE(ask.hand_over);
  EXPECT_EQ(ask.prev_lsn, 5u);
  ASSERT_TRUE(actions.change.promise.has_value());
  EXPECT_EQ(actions.change.promise->epoch, 4u);
}

TEST(ElectionTest, StartByHandCountsOnceItsPromiseIsStored) {
  Harness harness;
  harness.election->BeginByHand(/*known=*/50, harness.now);
  EXPECT_EQ(harness.election->epoch(), 50 + (Epoch{1} << 20));
  EXPECT_FALSE(harness.election->IsElectedByHand(8)) << "not handed out yet";
  harness.election->NoteDrained(9);
  EXPECT_FALSE(harness.election->IsElectedByHand(8));
  EXPECT_TRUE(harness.election->IsElectedByHand(9));
  EXPECT_EQ(harness.election->votes().size(), 2);
  EXPECT_FALSE(harness.election->IsElectedByHand(10)) << "only once";
}

TEST(ElectionTest, StartByHandIsOvertakenByALargerEpoch) {
  Harness harness;
  harness.election->BeginByHand(0, harness.now);
  harness.election->NoteDrained(1);
  harness.election->Promise(harness.election->epoch() + 1);
  EXPECT_FALSE(harness.election->IsElectedByHand(1));
}

TEST(ElectionTest, TimeoutsGrowWithTheTimeOfAStore) {
  Harness quick;
  quick.election->Await(quick.now);
  Harness slow;
  slow.store_time.Note(milliseconds(400), slow.now);
  slow.election->Await(slow.now);
  EXPECT_EQ(slow.election->due_at() - quick.election->due_at(), 4 * milliseconds(400));
}

TEST(ElectionTest, MemberWithoutRoomWaitsForTheOthersToBecomeCandidates) {
  Harness preferred(0);
  Harness last(2);
  preferred.election->NoteRoom(false);
  preferred.election->Await(preferred.now);
  last.election->Await(last.now);
  EXPECT_GT(preferred.election->due_at(), last.election->due_at());
  preferred.election->NoteRoom(true);
  preferred.election->Await(preferred.now);
  EXPECT_LT(preferred.election->due_at(), last.election->due_at());
}

}  // namespace
}  // namespace neptune
