#include "neptune/replication/agent/snapshot_message.h"

#include <gtest/gtest.h>

#include "neptune/base/strings.h"
#include "neptune/replication/agent/snapshot_places.h"

namespace neptune {
namespace {

LogEntry Write(Lsn lsn) {
  return {.lsn = lsn, .epoch = 3, .method = MethodName("Add"), .payload = StrCat("entry ", lsn)};
}

SnapshotChunk MiddleChunk() {
  SnapshotChunk chunk;
  chunk.token = 77;
  chunk.index = 4;
  chunk.data_end = 20;
  chunk.piece = "a piece";
  chunk.entries = {Write(21), Write(22)};
  return chunk;
}

SnapshotChunk LastChunk(bool with_log) {
  SnapshotChunk chunk = MiddleChunk();
  chunk.has_all_data = true;
  chunk.mark = SnapshotMark{.base = {22, 3}, .write_set = MemberSet::FirstOf(3), .log = {}};
  if (with_log) chunk.mark->log = LogCopy{.base = 20, .counts = {{11, 20}}, .entries = {}};
  return chunk;
}

TEST(SnapshotMessageTest, ChunksArriveAsTheyWereSent) {
  for (const SnapshotChunk& chunk :
       {SnapshotChunk(), MiddleChunk(), LastChunk(false), LastChunk(true)}) {
    const std::string bytes = EncodeSnapshotChunk(chunk);
    const auto taken = DecodeSnapshotChunk(bytes);
    ASSERT_TRUE(taken.ok()) << taken.status();
    EXPECT_EQ(taken->token, chunk.token);
    EXPECT_EQ(taken->index, chunk.index);
    EXPECT_EQ(taken->data_end, chunk.data_end);
    EXPECT_EQ(taken->piece, chunk.piece);
    EXPECT_EQ(taken->has_all_data, chunk.has_all_data);
    EXPECT_EQ(taken->entries, chunk.entries);
    ASSERT_EQ(taken->mark.has_value(), chunk.mark.has_value());
    if (!chunk.mark) continue;
    EXPECT_EQ(taken->mark->base, chunk.mark->base);
    EXPECT_EQ(taken->mark->write_set, chunk.mark->write_set);
    ASSERT_EQ(taken->mark->log.has_value(), chunk.mark->log.has_value());
    if (chunk.mark->log) {
      EXPECT_EQ(taken->mark->log->counts, chunk.mark->log->counts);
    }
  }
}

TEST(SnapshotMessageTest, NumbersBeyondTheLimitAreRefused) {
  SnapshotChunk chunk = LastChunk(true);
  chunk.data_end = chunk.mark->base.lsn = chunk.mark->log->base = kLsnMax;
  EXPECT_TRUE(DecodeSnapshotChunk(EncodeSnapshotChunk(chunk)).ok());
  for (Lsn* const field : {&chunk.data_end, &chunk.mark->base.lsn, &chunk.mark->log->base}) {
    *field = kLsnMax + 1;
    EXPECT_EQ(DecodeSnapshotChunk(EncodeSnapshotChunk(chunk)).status().code(),
              StatusCode::kDataLoss);
    *field = kLsnMax;
  }
  chunk.mark->log->counts = {{11, kLsnMax + 1}};
  EXPECT_EQ(DecodeSnapshotChunk(EncodeSnapshotChunk(chunk)).status().code(), StatusCode::kDataLoss);
}

TEST(SnapshotMessageTest, BytesAreThoseOfTheReadme) {
  SnapshotChunk chunk;
  chunk.token = 0x0102030405060708;
  chunk.index = 1;
  chunk.data_end = 9;
  chunk.piece = "hi";
  chunk.has_all_data = true;
  chunk.mark = SnapshotMark{.base = {9, 3}, .write_set = MemberSet::FirstOf(3), .log = {}};
  const std::string bytes = EncodeSnapshotChunk(chunk);
  std::string hex;
  for (const char c : bytes.substr(8)) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += {kDigits[static_cast<uint8_t>(c) >> 4], kDigits[static_cast<uint8_t>(c) & 15]};
  }
  EXPECT_EQ(hex,
            "0203"
            "0102030405060708"
            "0000000000000001"
            "0000000000000009"
            "000000026869"
            "00000000"
            "0000000000000009"
            "0000000000000003"
            "0007");
}

TEST(SnapshotMessageTest, DamagedChunksAreRefused) {
  for (const SnapshotChunk& chunk : {MiddleChunk(), LastChunk(true)}) {
    const std::string bytes = EncodeSnapshotChunk(chunk);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_EQ(DecodeSnapshotChunk(bytes.substr(0, size)).status().code(), StatusCode::kDataLoss);
    }
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_EQ(DecodeSnapshotChunk(flipped).status().code(), StatusCode::kDataLoss) << bit;
    }
    EXPECT_FALSE(DecodeSnapshotChunk(bytes + "x").ok());
  }
}

TEST(SnapshotMessageTest, PullsNameATransferOfAPartition) {
  const SnapshotPull pull = {
      ServiceName("forum"), PartitionId(7), NodeId("n2"), 77, 5, true, false};
  const std::string bytes = EncodeSnapshotPull(pull);
  EXPECT_EQ(DecodeSnapshotPull(bytes).value(), pull);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DecodeSnapshotPull(bytes.substr(0, size)).status().code(),
              StatusCode::kInvalidArgument);
  }
  EXPECT_FALSE(DecodeSnapshotPull(bytes + "x").ok());
}

TEST(SnapshotMessageTest, MessagesOfAnotherVersionAreRefusedWithIt) {
  std::string pull = EncodeSnapshotPull({});
  pull[0] = 9;
  EXPECT_EQ(DecodeSnapshotPull(pull).status(),
            InvalidArgument("a pull of a snapshot has version 9"));
}

TEST(SnapshotPlacesTest, OneMoreThanThereIsRoomForIsRefused) {
  SnapshotPlaces places(2);
  auto first = places.Take("sends");
  const auto second = places.Take("sends");
  ASSERT_TRUE(first.ok() && second.ok());
  const auto copy = *first;
  const Status status = places.Take("sends").status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "this node sends 2 snapshots already");
  first->reset();
  EXPECT_FALSE(places.Take("sends").ok()) << "the copy still holds it";
}

TEST(SnapshotPlacesTest, PlaceIsFreeAgainWhenItsLastHolderIsGone) {
  SnapshotPlaces places(1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(places.Take("takes").ok()) << i;
  }
}

}  // namespace
}  // namespace neptune
