// The log in files of the operating system.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "neptune/replication/log/redo_log.h"
#include "neptune/world/real/posix_log_files.h"

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
    node_log_ = std::make_unique<NodeLog>(*files_, SharedLogOptions{.segment_size = 200'000});
    auto log = RedoLog::Open(*node_log_, "log", {.cluster = "east"}, /*cache_size_max=*/10'000);
    ASSERT_TRUE(log.ok()) << log.status();
    ASSERT_TRUE((*log)->damage().ok()) << (*log)->damage();
    log_ = *std::move(log);
  }
  std::unique_ptr<LogFiles> files_ =
      MakePosixLogFiles(std::filesystem::path(std::getenv("TEST_TMPDIR")) /
                        testing::UnitTest::GetInstance()->current_test_info()->name());
  std::unique_ptr<NodeLog> node_log_;
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

// Each entry read is consistent with its LSN and epoch, despite concurrent stores and drops.
TEST_F(RedoLogRealTest, ReadsWhileItChanges) {
  Open();
  std::atomic<bool> is_over = false;
  std::atomic<Lsn> read_count = 0;
  std::thread reader([&] {
    for (Lsn i = 0; !is_over; ++i) {
      const Lsn last = log_->last_lsn();
      const Lsn first = log_->first_lsn() + i % 300;
      const auto entries = log_->Read(first, last, 20'000);
      if (!entries.ok()) {
        EXPECT_EQ(entries.status().code(), StatusCode::kNotFound) << entries.status();
        continue;
      }
      for (size_t j = 0; j < entries->size(); ++j) {
        const LogEntry& entry = (*entries)[j];
        EXPECT_EQ(entry.lsn, first + j);
        EXPECT_EQ(entry.payload, PayloadOf(entry.lsn * entry.epoch));
        ++read_count;
      }
    }
  });
  Epoch epoch = 1;
  for (Lsn next = 1; next <= 2000;) {
    LogChange change;
    if (next > 50 && next % 7 == 0) {
      ++epoch;
      next -= 5;
      change.drop_from = next;
    }
    for (int i = 0; i < 20; ++i, ++next) {
      change.entries.push_back({.lsn = next, .epoch = epoch, .payload = PayloadOf(next * epoch)});
    }
    EXPECT_TRUE(log_->Store(change).ok());
    if (next % 3 == 0 && next > 300) {
      EXPECT_TRUE(log_->DropBefore(next - 250).ok());
    }
  }
  EXPECT_GT(log_->first_lsn(), 1000u);
  EXPECT_GT(epoch, 10u);
  is_over = true;
  reader.join();
  EXPECT_GT(read_count, 1000u);
}

}  // namespace
}  // namespace neptune
