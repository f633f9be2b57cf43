// The log over RocksDB.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "neptune/replication/redo_log.h"
#include "neptune/world/real/rocksdb_storage.h"

namespace neptune {
namespace {

constexpr Lsn kEntryCount = 500;

std::string PayloadOf(Lsn lsn) { return std::string(100 + lsn % 1000, static_cast<char>(lsn)); }

LogEntry Entry(Lsn lsn) {
  return {
      .lsn = lsn, .epoch = 1 + lsn / 100, .method = MethodName("Put"), .payload = PayloadOf(lsn)};
}

class RedoLogRealTest : public testing::Test {
 protected:
  void Open() {
    log_.reset();
    store_.reset();
    store_ = *storage_->Open("log");
    auto log = RedoLog::Open(*store_, {.cluster = "east"}, /*cache_size_max=*/10'000);
    ASSERT_TRUE(log.ok()) << log.status();
    log_ = *std::move(log);
  }
  std::unique_ptr<DurableStorage> storage_ =
      MakeRocksDbStorage(std::filesystem::path(std::getenv("TEST_TMPDIR")) / "redo_log");
  std::unique_ptr<KeyValueStore> store_;
  std::unique_ptr<RedoLog> log_;
};

TEST_F(RedoLogRealTest, KeepsWhatWasStoredDroppedAndRewritten) {
  Open();
  for (Lsn lsn = 1; lsn <= kEntryCount; lsn += 10) {
    LogChange change;
    for (Lsn i = 0; i < 10; ++i) change.entries.push_back(Entry(lsn + i));
    ASSERT_TRUE(log_->Store(change).ok());
  }
  ASSERT_TRUE(log_->DropBefore(200).ok());
  ASSERT_TRUE(log_->Store({.drop_from = 480, .entries = {Entry(480), Entry(481)}}).ok());
  Open();
  EXPECT_EQ(log_->opened().base, (EpochStart{199, 2}));
  EXPECT_EQ(log_->opened().last_lsn, 481u);
  Lsn next = 200;
  while (next <= 481) {
    const auto entries = log_->Read(next, 481, 5000);
    ASSERT_TRUE(entries.ok()) << entries.status();
    for (const LogEntry& entry : *entries) EXPECT_EQ(entry, Entry(next++));
  }
  ASSERT_TRUE(log_->Store({.entries = {Entry(1001)}, .restart = {{{1000, 9}, MemberSet(3)}}}).ok());
  Open();
  EXPECT_EQ(log_->opened().base_write_set, MemberSet(3));
  EXPECT_EQ(*log_->Read(1001, 1001, 1), std::vector<LogEntry>{Entry(1001)});
}

}  // namespace
}  // namespace neptune
