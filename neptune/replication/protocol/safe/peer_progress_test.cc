#include "neptune/replication/protocol/safe/peer_progress.h"

#include <gtest/gtest.h>

#include "neptune/replication/protocol/replica_message.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kNow{seconds(100)};
constexpr Duration kResend = milliseconds(150);

// A member whose log is known to match up to `matched`.
PeerProgress Matched(Lsn matched, Lsn last_lsn) {
  PeerProgress progress(last_lsn, kNow);
  progress.Match(matched, kNow);
  return progress;
}

TEST(PeerProgressTest, ProbesWithoutEntriesFromTheEndOfTheLog) {
  PeerProgress progress(20, kNow);
  EXPECT_TRUE(progress.HasWork(20, kNow));
  const PeerProgress::Sending sending = progress.Send({.base = 5, .last = 20}, true, kResend, kNow);
  EXPECT_FALSE(sending.is_behind);
  EXPECT_EQ(sending.prev, 20u);
  EXPECT_EQ(sending.entries_to, 20u);
  EXPECT_FALSE(progress.HasWork(20, kNow)) << "a probe is in flight";
  EXPECT_TRUE(progress.HasWork(20, kNow + kResend));
}

TEST(PeerProgressTest, RefusalMovesTheProbeBack) {
  PeerProgress progress(20, kNow);
  progress.Refuse(12, kNow);
  EXPECT_EQ(progress.Send({.base = 5, .last = 20}, true, kResend, kNow).prev, 12u);
  progress.Refuse(15, kNow);  // an old answer does not move it forward
  EXPECT_EQ(progress.Send({.base = 5, .last = 20}, true, kResend, kNow + kResend).prev, 12u);
}

TEST(PeerProgressTest, SendsEntriesOnceTheLogsMatch) {
  PeerProgress progress = Matched(12, 20);
  const PeerProgress::Sending sending = progress.Send({.base = 5, .last = 20}, true, kResend, kNow);
  EXPECT_EQ(sending.prev, 12u);
  EXPECT_EQ(sending.entries_to, 20u);
}

TEST(PeerProgressTest, MessageHasABoundedNumberOfEntries) {
  PeerProgress progress = Matched(12, 20);
  const PeerProgress::Sending sending =
      progress.Send({.base = 5, .last = 20 + kMessageEntryCountMax}, true, kResend, kNow);
  EXPECT_EQ(sending.entries_to, 12 + kMessageEntryCountMax);
}

TEST(PeerProgressTest, OneMessageWithEntriesIsInFlight) {
  PeerProgress progress = Matched(12, 20);
  (void)progress.Send({.base = 5, .last = 20}, true, kResend, kNow);
  const PeerProgress::Sending heartbeat =
      progress.Send({.base = 5, .last = 20}, true, kResend, kNow + milliseconds(50));
  EXPECT_EQ(heartbeat.entries_to, heartbeat.prev);
  progress.Match(20, kNow + milliseconds(60));
  EXPECT_TRUE(progress.HasWork(21, kNow + milliseconds(60)));
  EXPECT_FALSE(progress.HasWork(20, kNow + milliseconds(60)));
}

TEST(PeerProgressTest, FurtherMessagesFollowToAMemberThatAnswersSlowly) {
  PeerProgress progress = Matched(12, 20);
  (void)progress.Send({.base = 5, .last = 20}, true, kResend, kNow);
  EXPECT_EQ(progress.FollowAt(20), kNever) << "there is nothing more";
  const TimePoint later = progress.FollowAt(25);
  EXPECT_EQ(later, kNow + PeerProgress::kFollowDelay);
  EXPECT_FALSE(progress.HasWork(25, later - milliseconds(1)));
  ASSERT_TRUE(progress.HasWork(25, later));
  const PeerProgress::Sending second = progress.Send({.base = 5, .last = 25}, true, kResend, later);
  EXPECT_EQ(second.prev, 20u);
  EXPECT_EQ(second.entries_to, 25u);
  progress.Match(20, later);
  EXPECT_TRUE(progress.keeps_up());
  EXPECT_FALSE(progress.HasWork(25, later + milliseconds(1))) << "these are in flight";
  progress.Match(25, later + milliseconds(2));
  EXPECT_TRUE(progress.keeps_up());
  EXPECT_TRUE(progress.HasWork(26, later + milliseconds(2)));
}

TEST(PeerProgressTest, FewEntriesAreInFlight) {
  PeerProgress progress = Matched(0, 1);
  constexpr Lsn kMany = 100 * kMessageEntryCountMax;
  TimePoint now = kNow;
  Lsn sent = 0;
  while (progress.HasWork(kMany, now)) {
    sent = progress.Send({.base = 0, .last = kMany}, true, seconds(10), now).entries_to;
    now += PeerProgress::kFollowDelay;
  }
  EXPECT_EQ(sent, PeerProgress::kInFlightEntryCountMax);
}

TEST(PeerProgressTest, FewMessagesAreInFlight) {
  PeerProgress progress = Matched(0, 1);
  TimePoint now = kNow;
  for (Lsn last = 1; last <= PeerProgress::kInFlightMax; ++last) {
    ASSERT_TRUE(progress.HasWork(last, now)) << last;
    EXPECT_EQ(progress.Send({.base = 0, .last = last}, true, seconds(10), now).entries_to, last);
    now += PeerProgress::kFollowDelay;
  }
  EXPECT_FALSE(progress.HasWork(100, now));
  progress.Match(1, now);
  EXPECT_TRUE(progress.HasWork(100, now));
}

TEST(PeerProgressTest, UnansweredMessagesAreSentAgainFromTheFirst) {
  PeerProgress progress = Matched(12, 20);
  (void)progress.Send({.base = 5, .last = 20}, true, kResend, kNow);
  const TimePoint later = kNow + PeerProgress::kFollowDelay;
  (void)progress.Send({.base = 5, .last = 25}, true, kResend, later);
  EXPECT_FALSE(progress.HasWork(25, later + kResend - milliseconds(1)));
  const PeerProgress::Sending again =
      progress.Send({.base = 5, .last = 25}, true, kResend, later + kResend);
  EXPECT_EQ(again.prev, 12u);
  EXPECT_EQ(again.entries_to, 25u);
  EXPECT_FALSE(progress.keeps_up());
}

TEST(PeerProgressTest, AMessageThatCameWithoutTheOneBeforeItIsSentAgainSoon) {
  PeerProgress progress = Matched(12, 20);
  (void)progress.Send({.base = 5, .last = 20}, true, kResend, kNow);
  const TimePoint later = kNow + PeerProgress::kFollowDelay;
  (void)progress.Send({.base = 5, .last = 25}, true, kResend, later);
  progress.Refuse(12, later);
  EXPECT_FALSE(progress.HasWork(25, later)) << "the first may be late only";
  ASSERT_TRUE(progress.HasWork(25, later + PeerProgress::kFollowDelay));
  const PeerProgress::Sending again =
      progress.Send({.base = 5, .last = 25}, true, kResend, later + PeerProgress::kFollowDelay);
  EXPECT_EQ(again.prev, 12u);
  EXPECT_EQ(again.entries_to, 25u);
}

TEST(PeerProgressTest, WhatHadNoRoomInAMessageIsSentAtOnce) {
  PeerProgress progress = Matched(12, 20);
  (void)progress.Send({.base = 5, .last = 20}, true, kResend, kNow);
  const TimePoint later = kNow + PeerProgress::kFollowDelay;
  (void)progress.Send({.base = 5, .last = 25}, true, kResend, later);
  progress.Match(16, later);  // entries 17 to 20 were too large for the first message
  ASSERT_TRUE(progress.HasWork(25, later));
  const PeerProgress::Sending rest = progress.Send({.base = 5, .last = 25}, true, kResend, later);
  EXPECT_EQ(rest.prev, 16u);
  EXPECT_EQ(rest.entries_to, 25u);
}

TEST(PeerProgressTest, LostMessageIsSentAgainEarlier) {
  PeerProgress progress = Matched(12, 20);
  (void)progress.Send({.base = 5, .last = 20}, true, kResend, kNow);
  progress.Lose(kNow + milliseconds(50), kNow);
  EXPECT_FALSE(progress.HasWork(20, kNow + milliseconds(49)));
  EXPECT_TRUE(progress.HasWork(20, kNow + milliseconds(50)));
}

TEST(PeerProgressTest, MemberThatLacksDroppedEntriesIsBehindUnlessItGetsNone) {
  PeerProgress progress = Matched(3, 20);
  EXPECT_TRUE(progress.Send({.base = 5, .last = 20}, true, kResend, kNow).is_behind);
  const PeerProgress::Sending heartbeat =
      progress.Send({.base = 5, .last = 20}, /*is_fed=*/false, kResend, kNow);
  EXPECT_FALSE(heartbeat.is_behind);
  EXPECT_EQ(heartbeat.prev, 5u);
  EXPECT_EQ(heartbeat.entries_to, 5u);
}

TEST(PeerProgressTest, KeepsUpWithWhatWasThereWhenItWasSent) {
  PeerProgress progress = Matched(12, 20);
  (void)progress.Send({.base = 5, .last = 20}, true, kResend, kNow);
  progress.Match(16, kNow);
  EXPECT_FALSE(progress.keeps_up());
  progress.Match(20, kNow);
  EXPECT_TRUE(progress.keeps_up());
}

TEST(PeerProgressTest, MatchNeverDecreases) {
  PeerProgress progress = Matched(12, 20);
  progress.Match(7, kNow);
  EXPECT_EQ(progress.matched(), 12u);
  progress.Refuse(2, kNow);
  EXPECT_EQ(progress.Send({.base = 5, .last = 20}, true, kResend, kNow).prev, 12u);
}

}  // namespace
}  // namespace neptune
