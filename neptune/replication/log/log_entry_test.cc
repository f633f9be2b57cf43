#include "neptune/replication/log/log_entry.h"

#include <gtest/gtest.h>

#include "neptune/world/random_source.h"

namespace neptune {
namespace {

LogEntry Write(Lsn lsn, std::string payload) {
  return {.lsn = lsn,
          .epoch = 3,
          .kind = EntryKind::kWrite,
          .method = MethodName("AddMsg"),
          .request_id = {.client = 5, .number = 6},
          .accepted_at = {.ns_since_1970 = 7},
          .payload = std::move(payload)};
}

LogEntry WriteSet(Lsn lsn, MemberSet members) {
  return {.lsn = lsn, .epoch = 3, .kind = EntryKind::kWriteSet, .write_set = members};
}

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const unsigned char byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

TEST(MemberSetTest, HoldsWhatWasPutIn) {
  const MemberSet members = MemberSet::FirstOf(3).Without(1).With(15);
  EXPECT_TRUE(members.contains(0) && members.contains(2) && members.contains(15));
  EXPECT_FALSE(members.contains(1));
  EXPECT_EQ(members.size(), 3);
  EXPECT_EQ(MemberSet::FirstOf(kMemberCountMax).size(), kMemberCountMax);
}

TEST(LogEntryTest, StoredFormIsTheDocumentedOne) {
  EXPECT_EQ(Hex(EncodeLogEntry(Write(4, "hi"))),
            "15a442f703a9b3dc"
            "01"
            "00"
            "0000000000000004"
            "0000000000000003"
            "064164644d7367"
            "0000000000000005"
            "0000000000000006"
            "0000000000000007"
            "000000026869");
  EXPECT_EQ(Hex(EncodeLogEntry(WriteSet(5, MemberSet::FirstOf(3)))),
            "a5ec9cd1cbcf1117"
            "01"
            "01"
            "0000000000000005"
            "0000000000000003"
            "0007");
}

TEST(LogEntryTest, DecodesToWhatWasEncoded) {
  RandomSource random(1);
  for (int i = 0; i < 1000; ++i) {
    LogEntry entry = Write(1 + random.Below(1000), std::string(random.Below(300), '\xff'));
    entry.epoch = random.Next();
    entry.accepted_at.ns_since_1970 = static_cast<int64_t>(random.Next());
    entry.request_id = {random.Next(), random.Next()};
    if (random.Below(3) == 0) {
      entry = WriteSet(entry.lsn, MemberSet(static_cast<uint16_t>(random.Next())));
    }
    if (random.Below(3) == 0 && entry.kind == EntryKind::kWrite) {
      entry.kind = EntryKind::kCommutativeWrite;
      entry.origin = {random.Next(), random.Next() >> 1};
    }
    const StatusOr<LogEntry> decoded = DecodeLogEntry(EncodeLogEntry(entry));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, entry);
  }
}

TEST(LogEntryTest, DamageIsFound) {
  LogEntry commutative = Write(11, "payload");
  commutative.kind = EntryKind::kCommutativeWrite;
  const LogEntry origins = {.lsn = 12, .kind = EntryKind::kOrigins, .payload = "counts"};
  EXPECT_EQ(*DecodeLogEntry(EncodeLogEntry(origins)), origins);
  for (const LogEntry& entry :
       {Write(9, "payload"), WriteSet(10, MemberSet::FirstOf(2)), commutative, origins}) {
    const std::string bytes = EncodeLogEntry(entry);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_EQ(DecodeLogEntry(bytes.substr(0, size)).status().code(), StatusCode::kDataLoss);
    }
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_EQ(DecodeLogEntry(flipped).status().code(), StatusCode::kDataLoss) << bit;
    }
    EXPECT_FALSE(DecodeLogEntry(bytes + '\0').ok());
  }
}

TEST(LogEntryTest, EntryWithoutANumberIsNone) {
  EXPECT_FALSE(DecodeLogEntry(EncodeLogEntry(Write(0, "x"))).ok());
}

TEST(LogEntryTest, NumbersBeyondTheLimitAreRefused) {
  EXPECT_TRUE(DecodeLogEntry(EncodeLogEntry(Write(kLsnMax, "x"))).ok());
  EXPECT_FALSE(DecodeLogEntry(EncodeLogEntry(Write(kLsnMax + 1, "x"))).ok());
  LogEntry commutative = Write(1, "x");
  commutative.kind = EntryKind::kCommutativeWrite;
  commutative.origin = {7, kLsnMax};
  EXPECT_TRUE(DecodeLogEntry(EncodeLogEntry(commutative)).ok());
  commutative.origin.number = kLsnMax + 1;
  EXPECT_FALSE(DecodeLogEntry(EncodeLogEntry(commutative)).ok());
}

}  // namespace
}  // namespace neptune
