#include "neptune/replication/log/origin_index.h"

#include <gtest/gtest.h>

#include "neptune/replication/protocol/commutative_message.h"

namespace neptune {
namespace {

constexpr Origin kA = 11;
constexpr Origin kB = 12;

LogEntry Write(Lsn lsn, const Origin& origin, uint64_t number) {
  return {.lsn = lsn,
          .kind = EntryKind::kCommutativeWrite,
          .origin = {origin, number},
          .method = MethodName("Add")};
}

LogEntry Counts(Lsn lsn, const OriginCounts& counts) {
  return {.lsn = lsn, .kind = EntryKind::kOrigins, .payload = EncodeOriginCounts(counts)};
}

TEST(OriginIndexTest, FindsWritesAndCountsThemAtAnyPlace) {
  OriginIndex index;
  for (const LogEntry& entry : {Write(1, kA, 1), Write(2, kB, 1), Write(3, kA, 2)}) {
    ASSERT_TRUE(index.Append(entry).ok());
  }
  EXPECT_EQ(index.LsnOf(kA, 2), 3u);
  EXPECT_EQ(index.LsnOf(kA, 3), std::nullopt);
  EXPECT_EQ(index.CountsAt(2), (OriginCounts{{kA, 1}, {kB, 1}}));
  EXPECT_EQ(index.counts(), (OriginCounts{{kA, 2}, {kB, 1}}));
}

TEST(OriginIndexTest, GapsAndRepetitionsAreRefused) {
  OriginIndex index;
  ASSERT_TRUE(index.Append(Write(1, kA, 1)).ok());
  EXPECT_FALSE(index.Append(Write(3, kA, 2)).ok());
  EXPECT_FALSE(index.Append(Write(2, kA, 1)).ok());
  EXPECT_FALSE(index.Append(Write(2, kA, 3)).ok());
  EXPECT_FALSE(index.Append(Write(2, kB, 2)).ok());
  EXPECT_FALSE(index.Append({.lsn = 2, .kind = EntryKind::kWrite}).ok());
  EXPECT_FALSE(index.Append(Counts(2, {{kA, 5}})).ok());
  EXPECT_EQ(index.counts(), (OriginCounts{{kA, 1}}));
  EXPECT_TRUE(index.Append(Write(2, kB, 1)).ok());
}

// A log whose beginning was dropped, read again.
TEST(OriginIndexTest, CountsStandForWhatWasDropped) {
  OriginIndex index(5);
  ASSERT_TRUE(index.Append(Write(6, kA, 4)).ok());
  ASSERT_TRUE(index.Append(Counts(7, {{kA, 4}, {kB, 2}})).ok());
  ASSERT_TRUE(index.Append(Write(8, kB, 3)).ok());
  EXPECT_EQ(index.counts(), (OriginCounts{{kA, 4}, {kB, 3}}));
  EXPECT_EQ(index.counts_lsn(), 7u);
  EXPECT_TRUE(index.HasDroppedBeyond({{kA, 2}, {kB, 3}}));
  EXPECT_FALSE(index.HasDroppedBeyond({{kA, 3}, {kB, 2}}));
  EXPECT_FALSE(index.Append(Write(9, 13, 2)).ok()) << "by now all counts are known";
}

TEST(OriginIndexTest, DroppedWritesStillCount) {
  OriginIndex index;
  for (Lsn lsn = 1; lsn <= 5; ++lsn) ASSERT_TRUE(index.Append(Write(lsn, kA, lsn)).ok());
  index.DropBefore(4);
  EXPECT_EQ(index.CountOf(kA), 5u);
  EXPECT_EQ(index.LsnOf(kA, 3), std::nullopt);
  EXPECT_EQ(index.LsnOf(kA, 4), 4u);
}

TEST(OriginCountsTest, CoversWhatHasNoMore) {
  EXPECT_TRUE(Covers({{kA, 2}, {kB, 1}}, {{kA, 2}}));
  EXPECT_FALSE(Covers({{kA, 2}}, {{kA, 2}, {kB, 1}}));
  EXPECT_TRUE(Covers({}, {}));
}

TEST(CommutativeMessageTest, DecodesToWhatWasEncodedAndFindsDamage) {
  CommutativeMessage message = {.from_incarnation = 1,
                                .to_incarnation = 2,
                                .number = 3,
                                .is_ready = true,
                                .is_behind = true,
                                .has = {{kA, 7}, {kB, 8}},
                                .entries = {Write(4, kB, 9)}};
  const std::string bytes = EncodeCommutativeMessage(message);
  const auto decoded = DecodeCommutativeMessage(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(EncodeCommutativeMessage(*decoded), bytes);
  EXPECT_EQ(decoded->has, message.has);
  EXPECT_EQ(decoded->entries, message.entries);
  EXPECT_TRUE(decoded->is_ready && decoded->is_behind && !decoded->wants_all);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeCommutativeMessage(bytes.substr(0, size)).ok());
  }
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(DecodeCommutativeMessage(flipped).ok()) << bit;
  }
}

}  // namespace
}  // namespace neptune
