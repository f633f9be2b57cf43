// Decoding of messages of both kinds of protocol.

#include "neptune/replication/protocol/protocol_message.h"

#include <gtest/gtest.h>

#include "neptune/base/strings.h"
#include "neptune/replication/protocol/protocol_actions.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

constexpr ConsistencyLevel kLevels[] = {ConsistencyLevel::kWriteAnywhere,
                                        ConsistencyLevel::kOrderedWrites,
                                        ConsistencyLevel::kStalenessBounded};

LogEntry Write(Lsn lsn, EntryKind kind) {
  return {.lsn = lsn,
          .epoch = 3,
          .kind = kind,
          .origin = kind == EntryKind::kCommutativeWrite ? WriteOrigin{11, lsn} : WriteOrigin(),
          .method = MethodName("Add"),
          .request_id = {5, lsn},
          .payload = StrCat("request ", lsn)};
}

ReplicaMessage Append(size_t entry_count) {
  ReplicaMessage message = {.kind = ReplicaMessageKind::kAppend,
                            .from_incarnation = 1,
                            .to_incarnation = 2,
                            .epoch = 3,
                            .prev_lsn = 7};
  for (size_t i = 0; i < entry_count; ++i) {
    message.entries.push_back(Write(8 + i, EntryKind::kWrite));
  }
  return message;
}

CommutativeMessage Sync(size_t entry_count) {
  CommutativeMessage message = {
      .from_incarnation = 1, .to_incarnation = 2, .number = 3, .has = {{11, 4}, {12, 5}}};
  for (size_t i = 0; i < entry_count; ++i) {
    message.entries.push_back(Write(8 + i, EntryKind::kCommutativeWrite));
  }
  return message;
}

std::string RefusalOf(ConsistencyLevel level, std::string_view bytes) {
  const auto decoded = DecodeProtocolMessage(level, bytes);
  EXPECT_EQ(decoded.status().code(), StatusCode::kDataLoss);
  return std::string(ToStd(decoded.status().message()));
}

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ProtocolMessageTest, MessagesOfEachLevelArriveAsTheyWereSent) {
  const ReplicaMessage append = Append(3);
  for (const ConsistencyLevel level :
       {ConsistencyLevel::kOrderedWrites, ConsistencyLevel::kStalenessBounded}) {
    const auto decoded = DecodeProtocolMessage(level, EncodeProtocolMessage(append));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    const auto& ordered = std::get<ReplicaMessage>(*decoded);
    EXPECT_EQ(ordered.kind, append.kind);
    EXPECT_EQ(ordered.prev_lsn, append.prev_lsn);
    EXPECT_EQ(ordered.entries, append.entries);
  }
  const CommutativeMessage sent = Sync(3);
  const auto decoded =
      DecodeProtocolMessage(ConsistencyLevel::kWriteAnywhere, EncodeProtocolMessage(sent));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  const auto& commutative = std::get<CommutativeMessage>(*decoded);
  EXPECT_EQ(commutative.number, sent.number);
  EXPECT_EQ(commutative.has, sent.has);
  EXPECT_EQ(commutative.entries, sent.entries);
}

TEST(ProtocolMessageTest, MessagesOfTheOtherKindAreRefused) {
  EXPECT_TRUE(Contains(
      RefusalOf(ConsistencyLevel::kWriteAnywhere, EncodeProtocolMessage(Append(1))), "checksum"));
  const std::string sent = EncodeProtocolMessage(Sync(5));
  EXPECT_TRUE(Contains(RefusalOf(ConsistencyLevel::kOrderedWrites, sent), "checksum"));
  EXPECT_TRUE(Contains(RefusalOf(ConsistencyLevel::kStalenessBounded, sent), "checksum"));
}

TEST(ProtocolMessageTest, EveryDamagedBitAndEveryCutIsFound) {
  for (const ConsistencyLevel level : kLevels) {
    const bool is_ordered = level != ConsistencyLevel::kWriteAnywhere;
    const std::string bytes =
        is_ordered ? EncodeProtocolMessage(Append(2)) : EncodeProtocolMessage(Sync(2));
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_NE(RefusalOf(level, bytes.substr(0, size)), "");
    }
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_NE(RefusalOf(level, flipped), "") << bit;
    }
    EXPECT_TRUE(Contains(RefusalOf(level, bytes + '\0'), "trailing bytes after the entries"));
  }
}

TEST(ProtocolMessageTest, RandomBytesAreRefused) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    RandomSource random(seed);
    std::string bytes(random.Below(400), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.Below(256));
    for (const ConsistencyLevel level : kLevels) {
      EXPECT_FALSE(DecodeProtocolMessage(level, bytes).ok()) << "seed " << seed;
    }
  }
}

TEST(ProtocolMessageTest, TooManyEntriesAreRefused) {
  EXPECT_TRUE(DecodeProtocolMessage(ConsistencyLevel::kOrderedWrites,
                                    EncodeProtocolMessage(Append(kMessageEntryCountMax)))
                  .ok());
  EXPECT_TRUE(Contains(RefusalOf(ConsistencyLevel::kOrderedWrites,
                                 EncodeProtocolMessage(Append(kMessageEntryCountMax + 1))),
                       "are not a replica message"));
  EXPECT_TRUE(DecodeProtocolMessage(ConsistencyLevel::kWriteAnywhere,
                                    EncodeProtocolMessage(Sync(kMessageEntryCountMax)))
                  .ok());
  EXPECT_TRUE(Contains(RefusalOf(ConsistencyLevel::kWriteAnywhere,
                                 EncodeProtocolMessage(Sync(kMessageEntryCountMax + 1))),
                       "are not the header of a write message"));
}

TEST(ProtocolMessageTest, TooManyOriginsAreRefused) {
  CommutativeMessage message = Sync(0);
  message.has.clear();
  for (Origin origin = 1; origin <= kOriginCountMax; ++origin) message.has[origin] = origin;
  EXPECT_TRUE(
      DecodeProtocolMessage(ConsistencyLevel::kWriteAnywhere, EncodeProtocolMessage(message)).ok());
  message.has[kOriginCountMax + 1] = 1;
  EXPECT_TRUE(Contains(RefusalOf(ConsistencyLevel::kWriteAnywhere, EncodeProtocolMessage(message)),
                       StrCat("more than ", kOriginCountMax, " origins")));
}

TEST(ProtocolMessageTest, EntriesThatDoNotBelongThereAreRefused) {
  CommutativeMessage sent = Sync(0);
  sent.entries.push_back(Write(8, EntryKind::kWrite));
  EXPECT_TRUE(Contains(RefusalOf(ConsistencyLevel::kWriteAnywhere, EncodeProtocolMessage(sent)),
                       "is not a commutative write"));
  ReplicaMessage gap = Append(2);
  gap.entries[1].lsn = 10;
  EXPECT_TRUE(Contains(RefusalOf(ConsistencyLevel::kOrderedWrites, EncodeProtocolMessage(gap)),
                       "entry 10 of a message found where 9 was expected"));
  ReplicaMessage foreign = Append(2);
  foreign.entries[1].kind = EntryKind::kCommutativeWrite;
  EXPECT_TRUE(Contains(RefusalOf(ConsistencyLevel::kOrderedWrites, EncodeProtocolMessage(foreign)),
                       "entry 9 of a message belongs to level write_anywhere"));
  ReplicaMessage vote = Append(1);
  vote.kind = ReplicaMessageKind::kVote;
  EXPECT_TRUE(Contains(RefusalOf(ConsistencyLevel::kOrderedWrites, EncodeProtocolMessage(vote)),
                       "are not a replica message"));
  ReplicaMessage large = Append(1);
  large.entries[0].payload.resize(kLogPayloadSizeMax + 1);
  EXPECT_TRUE(Contains(RefusalOf(ConsistencyLevel::kOrderedWrites, EncodeProtocolMessage(large)),
                       "are not a log entry"));
}

TEST(ProtocolMessageTest, ActionsAreEmptyUntilThereIsSomethingToDo) {
  EXPECT_TRUE(ProtocolActions().empty());
  ProtocolActions numbered;
  numbered.change_number = 7;
  EXPECT_TRUE(numbered.empty());
  ProtocolActions restoring;
  restoring.restore_from = 0;
  EXPECT_FALSE(restoring.empty());
  ProtocolActions promising;
  promising.change.promise = HardState();
  EXPECT_FALSE(promising.empty());
  ProtocolActions sending;
  sending.after_stored.emplace_back();
  EXPECT_FALSE(sending.empty());
}

}  // namespace
}  // namespace neptune
