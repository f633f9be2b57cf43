#include "neptune/replication/protocol/replica_message.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

LogEntry Write(Lsn lsn) {
  return {.lsn = lsn, .epoch = 2, .method = MethodName("Put"), .payload = StrCat("payload ", lsn)};
}

ReplicaMessage Append() {
  ReplicaMessage message;
  message.kind = ReplicaMessageKind::kAppend;
  message.from_incarnation = 11;
  message.to_incarnation = 12;
  message.epoch = 13;
  message.prev_lsn = 14;
  message.prev_epoch = 15;
  message.last_lsn = 16;
  message.committed = 17;
  message.primary_stamp = -18;
  message.member_stamp = 19;
  message.matched = 20;
  message.write_set = MemberSet::FirstOf(5);
  message.yes = true;
  message.entries = {Write(15), Write(16)};
  return message;
}

void ExpectEqual(const ReplicaMessage& a, const ReplicaMessage& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.from_incarnation, b.from_incarnation);
  EXPECT_EQ(a.to_incarnation, b.to_incarnation);
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.prev_lsn, b.prev_lsn);
  EXPECT_EQ(a.prev_epoch, b.prev_epoch);
  EXPECT_EQ(a.last_lsn, b.last_lsn);
  EXPECT_EQ(a.committed, b.committed);
  EXPECT_EQ(a.primary_stamp, b.primary_stamp);
  EXPECT_EQ(a.member_stamp, b.member_stamp);
  EXPECT_EQ(a.matched, b.matched);
  EXPECT_EQ(a.write_set, b.write_set);
  EXPECT_EQ(a.yes, b.yes);
  EXPECT_EQ(a.trial, b.trial);
  EXPECT_EQ(a.hand_over, b.hand_over);
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_EQ(a.by_hand, b.by_hand);
  EXPECT_EQ(a.lacks_room, b.lacks_room);
  EXPECT_EQ(a.entries, b.entries);
}

TEST(ReplicaMessageTest, DecodesToWhatWasEncoded) {
  const StatusOr<ReplicaMessage> decoded = DecodeReplicaMessage(EncodeReplicaMessage(Append()));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  ExpectEqual(*decoded, Append());
}

TEST(ReplicaMessageTest, EachFlagIsItsOwn) {
  for (bool ReplicaMessage::*flag :
       {&ReplicaMessage::yes, &ReplicaMessage::trial, &ReplicaMessage::hand_over,
        &ReplicaMessage::counts, &ReplicaMessage::by_hand, &ReplicaMessage::lacks_room}) {
    ReplicaMessage message;
    message.*flag = true;
    const StatusOr<ReplicaMessage> decoded = DecodeReplicaMessage(EncodeReplicaMessage(message));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    ExpectEqual(*decoded, message);
  }
}

TEST(ReplicaMessageTest, DamageIsFound) {
  const std::string bytes = EncodeReplicaMessage(Append());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DecodeReplicaMessage(bytes.substr(0, size)).status().code(), StatusCode::kDataLoss);
  }
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(DecodeReplicaMessage(flipped).status().code(), StatusCode::kDataLoss) << bit;
  }
  EXPECT_FALSE(DecodeReplicaMessage(bytes + '\0').ok());
}

TEST(ReplicaMessageTest, NumbersBeyondTheLimitAreRefused) {
  for (Lsn ReplicaMessage::*field : {&ReplicaMessage::prev_lsn, &ReplicaMessage::last_lsn,
                                     &ReplicaMessage::committed, &ReplicaMessage::matched}) {
    ReplicaMessage message;
    message.*field = kLsnMax;
    EXPECT_TRUE(DecodeReplicaMessage(EncodeReplicaMessage(message)).ok());
    message.*field = kLsnMax + 1;
    EXPECT_FALSE(DecodeReplicaMessage(EncodeReplicaMessage(message)).ok());
  }
}

TEST(ReplicaMessageTest, EntriesStandInTheirOrder) {
  ReplicaMessage message = Append();
  std::swap(message.entries[0], message.entries[1]);
  EXPECT_FALSE(DecodeReplicaMessage(EncodeReplicaMessage(message)).ok());
  message.entries = {Write(16)};
  EXPECT_FALSE(DecodeReplicaMessage(EncodeReplicaMessage(message)).ok());
}

TEST(ReplicaMessageTest, OnlyAppendsHaveEntries) {
  ReplicaMessage message = Append();
  message.kind = ReplicaMessageKind::kVote;
  EXPECT_FALSE(DecodeReplicaMessage(EncodeReplicaMessage(message)).ok());
}

TEST(ReplicaMessageTest, TooManyEntriesAreRefused) {
  ReplicaMessage message = Append();
  message.entries.clear();
  for (Lsn i = 0; i < kMessageEntryCountMax; ++i) message.entries.push_back(Write(15 + i));
  EXPECT_TRUE(DecodeReplicaMessage(EncodeReplicaMessage(message)).ok());
  message.entries.push_back(Write(15 + kMessageEntryCountMax));
  EXPECT_FALSE(DecodeReplicaMessage(EncodeReplicaMessage(message)).ok());
}

TEST(ReplicaMessageTest, KindsHaveNames) {
  EXPECT_EQ(NameOf(ReplicaMessageKind::kHello), "hello");
  EXPECT_EQ(NameOf(ReplicaMessageKind::kBehind), "behind");
}

}  // namespace
}  // namespace neptune
