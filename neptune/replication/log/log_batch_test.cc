#include "neptune/replication/log/log_batch.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

constexpr uint64_t kSalt = 7;

LogRecord SomeRecord() {
  LogRecord record;
  record.partition = 3;
  record.previous = 4;
  record.drop_from = 9;
  record.first_lsn = 2;
  record.last_lsn = 10;
  record.name = "log-forum-3";
  record.identity = "identity";
  record.state = "state";
  record.entries_lsn = 9;
  record.entries = {"nine", "ten"};
  return record;
}

std::string SomeBatch() {
  LogBatchWriter writer(kSalt, 5, 77);
  std::vector<size_t> offsets;
  writer.Add(SomeRecord(), &offsets);
  return writer.Finish().bytes;
}

std::string Hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += kDigits[static_cast<uint8_t>(c) / 16];
    text += kDigits[static_cast<uint8_t>(c) % 16];
  }
  return text;
}

TEST(LogBatchTest, IsReadAsItWasWritten) {
  LogBatchWriter writer(kSalt, 5, 77);
  std::vector<size_t> offsets;
  writer.Add(SomeRecord(), &offsets);
  const LogBatchWriter::Written written = writer.Finish();
  ASSERT_EQ(offsets.size(), 2u);
  EXPECT_EQ(written.bytes.substr(offsets[0], 4), "nine");
  EXPECT_EQ(written.bytes.substr(offsets[1], 3), "ten");
  const std::string read = written.bytes + "what follows";
  const auto batch = ReadLogBatch(kSalt, read);
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->number, 5u);
  EXPECT_EQ(batch->previous_checksum, 77u);
  EXPECT_EQ(batch->checksum, written.checksum);
  EXPECT_EQ(batch->size(), written.bytes.size());
  int count = 0;
  EXPECT_TRUE(ReadLogRecords(batch->records, [&](const LogRecord& record) {
    ++count;
    EXPECT_EQ(record.partition, 3u);
    EXPECT_EQ(record.kind, LogRecordKind::kChange);
    EXPECT_EQ(record.previous, 4u);
    EXPECT_EQ(record.drop_from, 9u);
    EXPECT_EQ(record.first_lsn, 2u);
    EXPECT_EQ(record.last_lsn, 10u);
    EXPECT_EQ(record.name, "log-forum-3");
    EXPECT_EQ(record.identity, "identity");
    EXPECT_EQ(record.state, "state");
    EXPECT_EQ(record.entries_lsn, 9u);
    EXPECT_EQ(record.entries, (std::vector<std::string_view>{"nine", "ten"}));
  }));
  EXPECT_EQ(count, 1);
}

// README.md shows these bytes.
TEST(LogBatchTest, HasTheDocumentedBytes) {
  EXPECT_EQ(Hexadecimal(SomeBatch()).substr(0, 32),
            "4e4c4731"
            "00000063"
            "0000000000000005");
  EXPECT_EQ(Hexadecimal(SomeBatch().substr(kLogBatchHeaderSize)),
            "00000003"
            "01"
            "00"
            "0000000000000004"
            "0000000000000009"
            "0000000000000002"
            "000000000000000a"
            "000b6c6f672d666f72756d2d33"
            "000000086964656e74697479"
            "000000057374617465"
            "0000000000000009"
            "00000002"
            "000000046e696e65"
            "0000000374656e");
}

TEST(LogBatchTest, AnyFlippedBitAndAnyCutIsFound) {
  const std::string bytes = SomeBatch();
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(ReadLogBatch(kSalt, flipped).has_value()) << bit;
  }
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadLogBatch(kSalt, bytes.substr(0, size)).has_value()) << size;
  }
}

TEST(LogBatchTest, BatchOfAnotherLogIsNone) {
  EXPECT_FALSE(ReadLogBatch(kSalt + 1, SomeBatch()).has_value());
}

TEST(LogBatchTest, MalformedRecordsAreRefused) {
  const std::string records = SomeBatch().substr(kLogBatchHeaderSize);
  const auto is_read = [](std::string_view bytes) {
    return ReadLogRecords(bytes, [](const LogRecord&) {});
  };
  EXPECT_TRUE(is_read(records));
  EXPECT_TRUE(is_read(""));
  for (size_t size = 1; size < records.size(); ++size) {
    EXPECT_FALSE(is_read(std::string_view(records).substr(0, size))) << size;
  }
  std::string other_kind = records;
  other_kind[4] = 9;
  EXPECT_FALSE(is_read(other_kind));
}

}  // namespace
}  // namespace neptune
