#include "neptune/replication/protocol/fail_stop/fail_stop_primary.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Epoch kEpoch = 40;

ReplicaGroup ThreeMembers() {
  ReplicaGroup group;
  group.members.resize(3);
  return group;
}

// What the primary sent to a member at once.
struct Sent {
  MemberIndex to = 0;
  ReplicaMessage message;
  std::optional<LogRun> entries;
};

// The first of three members, before it becomes the primary. The others live and take part.
struct Harness {
  explicit Harness(const LogOutline& found = LogOutline()) : log(found) {
    for (const MemberIndex other : {1, 2}) {
      (void)outbox.Meet(other, 100u + other);
      roster.SetOperational(other, true);
    }
    Hear({1, 2});
  }
  void Hear(std::initializer_list<MemberIndex> members) {
    for (const MemberIndex member : members) roster.Hear(member, 0, now);
  }
  // Passes the time while the members announce themselves.
  void Pass(Duration time, std::initializer_list<MemberIndex> announcing) {
    now += time;
    Hear(announcing);
  }
  // Becomes the primary, and stores the first entry of its epoch.
  void Begin() {
    primary.Begin(kEpoch, now);
    (void)Store();
  }
  // Does the same, and commits that entry.
  void BeginCommitted() {
    Begin();
    AnswerAll({1, 2});
    (void)Serve();
  }
  Status Append() { return primary.Append(LogEntry(), kEpoch); }
  // Stores what was appended; returns what was sent meanwhile.
  std::vector<Sent> Store() {
    const ProtocolActions actions = outbox.Drain(log);
    log.Stored(actions.change_number);
    std::vector<Sent> sent;
    for (const OutgoingMessage& outgoing : actions.at_once) {
      Sent& last = sent.emplace_back();
      last.to = outgoing.to;
      last.message = std::get<ReplicaMessage>(outgoing.message);
      if (!outgoing.entries.empty()) last.entries = outgoing.entries.front();
    }
    return sent;
  }
  std::vector<Sent> Serve() {
    primary.Serve(kEpoch, now);
    return Store();
  }
  // What the next turn sends to the member, if anything.
  std::optional<Sent> ServeTo(MemberIndex to) {
    for (Sent& sent : Serve()) {
      if (sent.to == to) return std::move(sent);
    }
    return std::nullopt;
  }
  void Answer(MemberIndex from, Lsn matched, bool fits = true) {
    ReplicaMessage answer;
    answer.kind = ReplicaMessageKind::kAppendAnswer;
    answer.epoch = kEpoch;
    answer.yes = fits;
    answer.matched = matched;
    primary.Record(from, answer, now);
  }
  // All of the members have the whole log.
  void AnswerAll(std::initializer_list<MemberIndex> members) {
    for (const MemberIndex member : members) Answer(member, log.last_lsn());
  }

  TimePoint now{seconds(100)};
  ReplicaGroup group = ThreeMembers();
  FailStopReplicaOptions options;
  MemberLog log;
  ReplicaOutbox outbox{group, 9};
  FailStopRoster roster{group, options.failure_timeout};
  FailStopPrimary primary{group, options, log, outbox, roster};
};

// A log whose first ten entries were dropped and which has twenty, all of epoch 8.
LogOutline TwentyEntriesOfWhichTenWereDropped() {
  LogOutline found;
  found.promise.epoch = 8;
  found.committed = 20;
  found.first_lsn = 11;
  found.base = {10, 8};
  found.base_write_set = MemberSet::FirstOf(2);
  found.last_lsn = 20;
  found.epochs = {{11, 8}};
  return found;
}

TEST(FailStopPrimaryTest, EpochBeginsWithTheLiveMembersThatTakePart) {
  Harness all;
  all.Begin();
  EXPECT_EQ(all.log.last_lsn(), 1u);
  EXPECT_EQ(all.log.last_epoch(), kEpoch);
  EXPECT_EQ(all.log.write_set(), MemberSet::FirstOf(3));

  Harness one_is_away;
  one_is_away.roster.SetOperational(1, false);
  one_is_away.Begin();
  EXPECT_EQ(one_is_away.log.write_set(), MemberSet().With(0).With(2));

  Harness one_is_silent;
  one_is_silent.Pass(one_is_silent.options.failure_timeout, {1});
  one_is_silent.Begin();
  EXPECT_EQ(one_is_silent.log.write_set(), MemberSet::FirstOf(2));
}

TEST(FailStopPrimaryTest, CommitsWhatEveryMemberOfTheWriteSetHasStored) {
  Harness harness;
  harness.Begin();
  ASSERT_TRUE(harness.Append().ok());
  (void)harness.Serve();
  harness.Answer(1, 2);
  (void)harness.Serve();
  EXPECT_EQ(harness.log.committed(), 0u) << "member 2 has not answered";
  harness.Answer(2, 1);
  (void)harness.Serve();
  EXPECT_EQ(harness.log.committed(), 1u);
  harness.Answer(2, 2);
  (void)harness.Serve();
  EXPECT_EQ(harness.log.committed(), 2u);
}

TEST(FailStopPrimaryTest, CommitsNothingThatItHasNotStoredItself) {
  Harness harness;
  harness.Begin();
  ASSERT_TRUE(harness.Append().ok());
  harness.AnswerAll({1, 2});
  harness.primary.Serve(kEpoch, harness.now);
  EXPECT_EQ(harness.log.committed(), 1u) << "the write is not stored here";
  (void)harness.Store();
  (void)harness.Serve();
  EXPECT_EQ(harness.log.committed(), 2u);
}

TEST(FailStopPrimaryTest, LeaseNeedsAnExecutableEntryOfItsOwnEpoch) {
  Harness harness(TwentyEntriesOfWhichTenWereDropped());
  harness.Begin();
  harness.Answer(1, 20);
  harness.Answer(2, 20);
  const std::vector<Sent> sent = harness.Serve();
  EXPECT_FALSE(harness.primary.is_leased()) << "the earlier entries are of another epoch";
  ASSERT_FALSE(sent.empty());
  EXPECT_FALSE(sent[0].message.yes);
  harness.AnswerAll({1, 2});
  (void)harness.Serve();
  EXPECT_TRUE(harness.primary.is_leased());
}

TEST(FailStopPrimaryTest, WritesAboveTheLimitOfUncommittedOnesAreRefusedUntilSomeAreCommitted) {
  Harness harness;
  harness.options.uncommitted_count_max = 5;
  harness.Begin();  // its first entry counts
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(harness.Append().ok()) << i;
  EXPECT_EQ(harness.Append().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(harness.log.last_lsn(), 5u) << "a refused write is not in the log";
  (void)harness.Store();
  harness.Answer(1, 1);
  harness.Answer(2, 1);
  (void)harness.Serve();
  EXPECT_TRUE(harness.Append().ok());
  EXPECT_EQ(harness.Append().code(), StatusCode::kResourceExhausted);
}

TEST(FailStopPrimaryTest, WritesGoOnWithoutAMemberThatHasStopped) {
  Harness harness;
  harness.BeginCommitted();
  ASSERT_TRUE(harness.Append().ok());
  (void)harness.Serve();
  harness.Answer(1, 2);
  harness.Pass(harness.options.failure_timeout - milliseconds(1), {1});
  (void)harness.Serve();
  EXPECT_EQ(harness.log.committed(), 1u) << "member 2 may live";
  harness.Pass(milliseconds(1), {1});
  (void)harness.Serve();
  EXPECT_EQ(harness.log.write_set(), MemberSet::FirstOf(2));
  EXPECT_EQ(harness.log.committed(), 2u);
}

TEST(FailStopPrimaryTest, WriteWaitsForALiveMemberNoLongerThanTheAcknowledgeTimeout) {
  Harness harness;
  harness.BeginCommitted();
  ASSERT_TRUE(harness.Append().ok());
  (void)harness.Serve();
  harness.Answer(1, 2);
  harness.Pass(harness.options.acknowledge_timeout - milliseconds(1), {1, 2});
  (void)harness.Serve();
  EXPECT_EQ(harness.log.committed(), 1u);
  harness.Pass(milliseconds(1), {1, 2});
  (void)harness.Serve();
  EXPECT_FALSE(harness.log.write_set().contains(2));
  EXPECT_EQ(harness.log.committed(), 2u);
}

TEST(FailStopPrimaryTest, TimeoutBeginsWithTheWriteAfterAnIdleTime) {
  Harness harness;
  harness.Begin();
  harness.AnswerAll({1, 2});
  harness.Pass(3 * harness.options.acknowledge_timeout, {1, 2});
  (void)harness.Serve();
  ASSERT_TRUE(harness.Append().ok());
  (void)harness.Serve();
  EXPECT_EQ(harness.log.write_set(), MemberSet::FirstOf(3));
  EXPECT_EQ(harness.log.last_lsn(), 2u) << "the write set has not changed meanwhile";
}

TEST(FailStopPrimaryTest, MemberThatMakesProgressStays) {
  Harness harness;
  harness.BeginCommitted();
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(harness.Append().ok());
  for (Lsn lsn = 2; lsn <= 6; ++lsn) {  // always one write behind, for longer than the timeout
    harness.Pass(harness.options.acknowledge_timeout / 2, {1, 2});
    harness.Answer(1, 7);
    harness.Answer(2, lsn);
    (void)harness.Serve();
    EXPECT_TRUE(harness.log.write_set().contains(2)) << lsn;
  }
}

TEST(FailStopPrimaryTest, MemberThatCatchesUpJoinsTheWriteSetAndWritesWaitForIt) {
  Harness harness;
  harness.roster.SetOperational(2, false);
  harness.Begin();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(harness.Append().ok());
  (void)harness.Store();
  harness.AnswerAll({1});
  harness.Answer(2, 1);
  (void)harness.Serve();
  EXPECT_FALSE(harness.log.write_set().contains(2)) << "it lacks 200 entries";
  harness.Answer(2, 201);
  (void)harness.Serve();
  EXPECT_EQ(harness.log.write_set(), MemberSet::FirstOf(3));
  const Lsn admitted = harness.log.last_lsn();
  harness.AnswerAll({1});
  (void)harness.Serve();
  EXPECT_LT(harness.log.committed(), admitted) << "it must have the entry that adds it";
  harness.AnswerAll({2});
  (void)harness.Serve();
  EXPECT_EQ(harness.log.committed(), admitted);
}

TEST(FailStopPrimaryTest, MemberIsToldTheEntryThatAddedItToTheWriteSet) {
  Harness harness;
  harness.roster.SetOperational(2, false);
  harness.Begin();
  for (const Sent& sent : harness.Serve()) {
    EXPECT_EQ(sent.message.matched, sent.to == 1 ? 1u : 0u) << "member " << int{sent.to};
  }
  harness.AnswerAll({1, 2});
  const std::optional<Sent> sent = harness.ServeTo(2);
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->message.matched, 2u);
}

TEST(FailStopPrimaryTest, WitnessThatHasEverythingDoesNotJoinTheWriteSet) {
  Harness harness;
  harness.group.members[2].is_witness = true;
  harness.roster.SetOperational(2, false);
  harness.BeginCommitted();
  EXPECT_EQ(harness.log.write_set(), MemberSet::FirstOf(2));
}

TEST(FailStopPrimaryTest, RestartedMemberLeavesTheWriteSetAtOnce) {
  Harness harness;
  harness.BeginCommitted();
  harness.primary.Forget(2);
  (void)harness.Serve();
  EXPECT_EQ(harness.log.write_set(), MemberSet::FirstOf(2));
}

TEST(FailStopPrimaryTest, AppendIsNotRepeatedUntilItsAnswerIsOverdue) {
  Harness harness;
  harness.Begin();
  ASSERT_TRUE(harness.ServeTo(1));
  EXPECT_FALSE(harness.ServeTo(1)) << "one is in flight";
  harness.Pass(10 * harness.options.announcement_interval, {1, 2});
  EXPECT_TRUE(harness.ServeTo(1)) << "it may be lost";
  harness.Answer(1, 1);
  EXPECT_FALSE(harness.ServeTo(1)) << "it has everything";
  ASSERT_TRUE(harness.Append().ok());
  const std::optional<Sent> next = harness.ServeTo(1);
  ASSERT_TRUE(next && next->entries);
  EXPECT_EQ(next->message.kind, ReplicaMessageKind::kAppend);
  EXPECT_EQ(next->message.to_incarnation, 101u);
  EXPECT_EQ(next->message.prev_lsn, 1u);
  EXPECT_EQ(next->entries->first, 2u);
  EXPECT_EQ(next->entries->last, 2u);
}

TEST(FailStopPrimaryTest, CommitsAreSentWithoutEntriesToo) {
  Harness harness;
  harness.Begin();
  harness.AnswerAll({1, 2});
  const std::optional<Sent> sent = harness.ServeTo(1);
  ASSERT_TRUE(sent);
  EXPECT_FALSE(sent->entries);
  EXPECT_EQ(sent->message.committed, 1u);
}

TEST(FailStopPrimaryTest, AppendCarriesTheStampOfTheNewestAnswer) {
  Harness harness;
  harness.Begin();
  ReplicaMessage answer;
  answer.yes = true;
  answer.matched = 1;
  for (const int64_t stamp : {7, 9, 8}) {
    answer.member_stamp = stamp;
    harness.primary.Record(1, answer, harness.now);
  }
  harness.primary.OweAll();
  const std::optional<Sent> sent = harness.ServeTo(1);
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->message.member_stamp, 9);
}

TEST(FailStopPrimaryTest, EveryMemberIsSentAnAppendThatIsOwedEvenWithoutNews) {
  Harness harness;
  harness.BeginCommitted();
  harness.AnswerAll({1, 2});
  ASSERT_TRUE(harness.Serve().empty());
  harness.primary.OweAll();
  const std::vector<Sent> sent = harness.Serve();
  ASSERT_EQ(sent.size(), 2u);
  for (const Sent& append : sent) EXPECT_FALSE(append.entries);
  harness.AnswerAll({1, 2});
  EXPECT_TRUE(harness.Serve().empty()) << "nothing is owed any more";
}

TEST(FailStopPrimaryTest, NothingIsSentToAMemberThatHasStopped) {
  Harness harness;
  harness.Begin();
  harness.Pass(harness.options.failure_timeout, {1});
  const std::vector<Sent> sent = harness.Serve();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].to, 1);
}

TEST(FailStopPrimaryTest, RefusalMovesTheNextAppendBack) {
  Harness harness(TwentyEntriesOfWhichTenWereDropped());
  harness.Begin();
  harness.Answer(1, 15, /*fits=*/false);
  std::optional<Sent> sent = harness.ServeTo(1);
  ASSERT_TRUE(sent && sent->entries);
  EXPECT_EQ(sent->message.prev_lsn, 15u);
  EXPECT_EQ(sent->message.prev_epoch, 8u);
  EXPECT_EQ(sent->entries->first, 16u);
  harness.Answer(1, 18, /*fits=*/false);  // an old answer must not move it forward
  sent = harness.ServeTo(1);
  ASSERT_TRUE(sent);
  EXPECT_LT(sent->message.prev_lsn, 18u);
}

TEST(FailStopPrimaryTest, RefusalDoesNotTakeBackWhatIsKnownToMatch) {
  Harness harness(TwentyEntriesOfWhichTenWereDropped());
  harness.Begin();
  harness.Answer(1, 18);
  harness.Answer(1, 11, /*fits=*/false);
  const std::optional<Sent> sent = harness.ServeTo(1);
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->message.prev_lsn, 18u);
}

TEST(FailStopPrimaryTest, MemberThatLacksDroppedEntriesIsToldThatItIsBehind) {
  Harness harness(TwentyEntriesOfWhichTenWereDropped());
  harness.Begin();
  harness.Answer(1, 10, /*fits=*/false);
  std::optional<Sent> sent = harness.ServeTo(1);
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->message.kind, ReplicaMessageKind::kAppend) << "the epoch of entry 10 is known";
  harness.Answer(1, 9, /*fits=*/false);
  sent = harness.ServeTo(1);
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->message.kind, ReplicaMessageKind::kBehind);
  EXPECT_EQ(sent->message.prev_lsn, 10u);
  EXPECT_EQ(sent->message.prev_epoch, 8u);
  EXPECT_EQ(sent->message.write_set, MemberSet::FirstOf(2));
  EXPECT_FALSE(sent->entries);
}

TEST(FailStopPrimaryTest, AnswersForMoreThanThereIsAreIgnored) {
  Harness harness;
  harness.Begin();
  (void)harness.Serve();
  harness.Answer(1, 7);
  harness.Answer(2, 1);
  EXPECT_FALSE(harness.ServeTo(1)) << "its append is still in flight";
  EXPECT_EQ(harness.log.committed(), 0u);
}

TEST(FailStopPrimaryTest, SuccessorGetsThePlaceOnceItHasEverything) {
  Harness harness;
  harness.BeginCommitted();
  ASSERT_TRUE(harness.Append().ok());
  harness.Answer(1, 1);
  const auto hand_over = [&] {
    harness.primary.HandOver(1, kEpoch, harness.now);
    return harness.Store();
  };
  std::vector<Sent> sent = hand_over();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].message.kind, ReplicaMessageKind::kAppend);
  EXPECT_FALSE(sent[0].message.yes) << "the lease has ended";
  EXPECT_TRUE(hand_over().empty()) << "an append is in flight";
  harness.Answer(1, 2);
  sent = hand_over();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].to, 1);
  EXPECT_EQ(sent[0].message.kind, ReplicaMessageKind::kTakeOver);
  EXPECT_EQ(sent[0].message.last_lsn, 2u);
  EXPECT_TRUE(hand_over().empty()) << "it was just notified";
  harness.Pass(10 * harness.options.announcement_interval, {1, 2});
  EXPECT_EQ(hand_over().size(), 1u) << "the message may be lost";
}

TEST(FailStopPrimaryTest, PlaceIsNotHandedOverBeforeThePrimaryHasStoredEverything) {
  Harness harness;
  harness.BeginCommitted();
  ASSERT_TRUE(harness.Append().ok());
  harness.Answer(1, 2);
  harness.primary.HandOver(1, kEpoch, harness.now);
  for (const Sent& sent : harness.Store()) {
    EXPECT_NE(sent.message.kind, ReplicaMessageKind::kTakeOver);
  }
}

TEST(FailStopPrimaryTest, EntriesThatAMemberOfTheWriteSetLacksAreNeeded) {
  Harness harness;
  harness.Begin();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(harness.Append().ok());
  harness.Answer(1, 5);
  harness.Answer(2, 3);
  EXPECT_EQ(harness.primary.needed_from(), 2u) << "only one entry is stored here";
  (void)harness.Store();
  EXPECT_EQ(harness.primary.needed_from(), 4u);
  harness.Answer(2, 2);  // an old answer
  EXPECT_EQ(harness.primary.needed_from(), 4u);
  harness.Pass(harness.options.failure_timeout, {1});
  (void)harness.Serve();
  EXPECT_EQ(harness.primary.needed_from(), 6u) << "no write waits for a member that has stopped";
}

}  // namespace
}  // namespace neptune
