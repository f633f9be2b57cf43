#include "neptune/replication/log/shared_log.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/replication/log/node_log.h"
#include "neptune/replication/log/sealed_record.h"
#include "neptune/world/random_source.h"
#include "neptune/world/sim/sim_log_files.h"

namespace neptune {
namespace {

constexpr size_t kNoLimit = SIZE_MAX;

std::string NameOf(int partition) { return StrCat("log-forum-", partition); }

// What a partition's log should have.
struct PartitionModel {
  std::string state;
  Lsn first = 1;
  std::vector<std::string> entries;

  Lsn last() const { return first + entries.size() - 1; }
  friend bool operator==(const PartitionModel&, const PartitionModel&) = default;
};

// A log in simulated files, with a small model of each partition.
class SharedLogTest : public testing::Test {
 protected:
  void Open(size_t segment_size = 64u << 20) {
    log_.reset();
    segment_size_ = segment_size;
    const auto log = SharedLog::Open(files_, {.segment_size = segment_size, .new_salt = 99});
    ASSERT_TRUE(log.ok()) << log.status();
    log_ = *log;
  }
  void Crash(uint64_t seed) {
    RandomSource random(seed);
    files_.Crash(random);
    Open(segment_size_);
  }

  // A change that appends to the model's entries.
  static PartitionChange Append(PartitionModel& model, std::vector<std::string> entries) {
    PartitionChange change;
    change.entries_lsn = model.last() + 1;
    for (std::string& entry : entries) model.entries.push_back(Sealed(entry));
    change.entries.assign(model.entries.end() - static_cast<ptrdiff_t>(entries.size()),
                          model.entries.end());
    return change;
  }
  static void DropBefore(PartitionModel& model, Lsn first) {
    while (!model.entries.empty() && model.first < first) {
      model.entries.erase(model.entries.begin());
      ++model.first;
    }
  }
  // Completes the change by what the model has now.
  PartitionChange Complete(PartitionChange change, int partition, PartitionModel& model) {
    model.state = StrCat("state ", ++state_count_);
    change.partition = log_->Attach(NameOf(partition)).partition;
    change.first_lsn = model.first;
    change.last_lsn = model.last();
    change.state = model.state;
    return change;
  }
  Status Store(int partition, std::vector<std::string> entries) {
    PartitionModel& model = models_[partition];
    return log_->Commit({Complete(Append(model, std::move(entries)), partition, model)});
  }
  Status Drop(int partition, Lsn first) {
    PartitionModel& model = models_[partition];
    DropBefore(model, first);
    return log_->Commit({Complete({}, partition, model)});
  }

  PartitionModel Found(int partition) {
    const SharedLog::Found found = log_->Attach(NameOf(partition));
    EXPECT_TRUE(found.damage.ok()) << found.damage;
    PartitionModel model = {found.state, found.first_lsn, {}};
    if (found.last_lsn < found.first_lsn) return model;
    auto entries = log_->Read(found.partition, found.first_lsn, found.last_lsn, kNoLimit);
    EXPECT_TRUE(entries.ok()) << entries.status();
    if (entries.ok()) model.entries = *std::move(entries);
    return model;
  }
  void ExpectModels() {
    for (const auto& [partition, model] : models_) {
      const PartitionModel found = Found(partition);
      ASSERT_EQ(found.state, model.state) << partition;
      ASSERT_EQ(found.first, model.first) << partition;
      ASSERT_EQ(found.entries, model.entries) << partition;
    }
  }

  SimLogFiles files_;
  std::shared_ptr<SharedLog> log_;
  size_t segment_size_ = 0;
  int state_count_ = 0;
  std::map<int, PartitionModel> models_;
};

TEST_F(SharedLogTest, NewPartitionIsNewUntilItsFirstChange) {
  Open();
  EXPECT_TRUE(log_->Attach(NameOf(1)).is_new);
  EXPECT_TRUE(log_->Attach(NameOf(1)).is_new);
  ASSERT_TRUE(Store(1, {}).ok());
  EXPECT_FALSE(log_->Attach(NameOf(1)).is_new);
  Open();
  EXPECT_FALSE(log_->Attach(NameOf(1)).is_new);
  EXPECT_TRUE(log_->Attach(NameOf(2)).is_new);
}

TEST_F(SharedLogTest, OneCommitOfManyPartitionsIsOneSync) {
  Open();
  const uint64_t before = files_.sync_count();
  std::vector<PartitionChange> changes;
  for (int partition = 0; partition < 100; ++partition) {
    PartitionModel& model = models_[partition];
    changes.push_back(Complete(Append(model, {"a", "b"}), partition, model));
  }
  ASSERT_TRUE(log_->Commit(changes).ok());
  EXPECT_EQ(files_.sync_count(), before + 1);
  ExpectModels();
  Open();
  ExpectModels();
}

TEST_F(SharedLogTest, ReadStopsAtTheSizeButReturnsAtLeastOne) {
  Open();
  ASSERT_TRUE(Store(1, {std::string(100, 'a'), std::string(100, 'b'), "c"}).ok());
  const uint32_t partition = log_->Attach(NameOf(1)).partition;
  EXPECT_EQ(log_->Read(partition, 1, 3, 1)->size(), 1u);
  EXPECT_EQ(log_->Read(partition, 1, 3, 216)->size(), 2u);
  EXPECT_EQ(log_->Read(partition, 2, 2, kNoLimit)->size(), 1u);
  EXPECT_TRUE(log_->Read(partition, 4, 9, kNoLimit)->empty());
}

TEST_F(SharedLogTest, TooLargeACommitWritesNothing) {
  Open();
  PartitionModel model;
  PartitionChange change = Append(model, {std::string(kLogBatchSizeMax / 2, 'x')});
  EXPECT_EQ(log_->Commit({Complete(std::move(change), 1, model)}).code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(log_->broken().ok());
  EXPECT_TRUE(log_->Attach(NameOf(1)).is_new);
}

// Changes of five partitions in segments of 2 KiB, with crashes in and after writes.
TEST_F(SharedLogTest, RandomChangesAndCrashesMatchTheModel) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    RandomSource random(seed);
    log_.reset();
    for (const std::string& name : files_.Names()) ASSERT_TRUE(files_.Remove(name).ok());
    models_.clear();
    Open(2048);
    for (int step = 0; step < 80; ++step) {
      std::map<int, PartitionModel> after = models_;
      std::vector<PartitionChange> changes;
      for (uint64_t count = 1 + random.Below(3); count > 0; --count) {
        const int partition = static_cast<int>(random.Below(5));
        PartitionModel& model = after[partition];
        PartitionChange change;
        if (random.Below(15) == 0) {
          change.is_restart = true;
          model.first = model.last() + 1 + random.Below(5);
          model.entries.clear();
        } else if (random.Below(5) == 0 && !model.entries.empty()) {
          change.drop_from = model.first + random.Below(model.entries.size());
          model.entries.resize(change.drop_from - model.first);
        }
        std::vector<std::string> entries;
        for (uint64_t i = random.Below(4); i > 0; --i) {
          entries.push_back(std::string(random.Below(150), static_cast<char>(random.Next())));
        }
        const PartitionChange added = Append(model, entries);
        change.entries_lsn = added.entries_lsn;
        change.entries = added.entries;
        if (random.Below(3) == 0) DropBefore(model, model.first + random.Below(8));
        changes.push_back(Complete(std::move(change), partition, model));
      }
      if (random.Below(10) == 0) {  // the power fails while it is synced
        files_.FailSyncs(Unavailable("the power is gone"));
        EXPECT_FALSE(log_->Commit(changes).ok());
        EXPECT_FALSE(log_->Commit(changes).ok()) << "it must be opened again";
        files_.FailSyncs(OkStatus());
        if (random.Below(2) == 0) {
          Crash(random.Next());
        } else {
          Open(segment_size_);
        }
        bool is_after = true;
        for (const auto& [number, model] : after) is_after = is_after && Found(number) == model;
        if (is_after) models_ = after;
      } else {
        ASSERT_TRUE(log_->Commit(changes).ok());
        models_ = after;
      }
      if (random.Below(15) == 0) Crash(random.Next());
      if (random.Below(15) == 0) Open(segment_size_);
      ExpectModels();
    }
  }
}

TEST_F(SharedLogTest, SegmentsThatNobodyNeedsAreRemoved) {
  Open(4096);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(Store(1, {std::string(500, 'x')}).ok());
    ASSERT_TRUE(Drop(1, models_[1].last()).ok());
  }
  EXPECT_LE(log_->statistics().segment_count, 3u);
  ExpectModels();
  Open(4096);
  ExpectModels();
}

TEST_F(SharedLogTest, QuietPartitionDoesNotKeepTheSegmentsOfTheOthers) {
  Open(4096);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Store(7, {StrCat("quiet ", i)}).ok());
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(Store(1, {std::string(500, 'x')}).ok());
    ASSERT_TRUE(Drop(1, models_[1].last()).ok());
  }
  EXPECT_GT(log_->statistics().copied_count, 0u);
  EXPECT_LE(log_->statistics().segment_count, 12u);
  ExpectModels();
  Open(4096);
  ExpectModels();
}

TEST_F(SharedLogTest, FullDiskBreaksTheLogUntilItIsOpenedAgain) {
  Open();
  ASSERT_TRUE(Store(1, {"kept"}).ok());
  const PartitionModel kept = models_[1];
  files_.FailWrites(ResourceExhausted("no space left"));
  EXPECT_EQ(Store(1, {"refused"}).code(), StatusCode::kResourceExhausted);
  files_.FailWrites(OkStatus());
  EXPECT_EQ(Store(1, {"refused too"}).code(), StatusCode::kUnavailable);
  models_[1] = kept;
  Open();
  ExpectModels();
  EXPECT_TRUE(Store(1, {"taken"}).ok());
  ExpectModels();
}

// What could be read after a failed sync is written again, because the disk may have dropped it.
TEST_F(SharedLogTest, WhatIsReadAfterAFailedSyncIsSyncedBeforeItCounts) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    log_.reset();
    for (const std::string& name : files_.Names()) ASSERT_TRUE(files_.Remove(name).ok());
    models_.clear();
    Open();
    ASSERT_TRUE(Store(1, {"a"}).ok());
    files_.FailSyncs(Unavailable("input/output error"));
    EXPECT_FALSE(Store(1, {"b"}).ok());
    files_.FailSyncs(OkStatus());
    Open();
    ExpectModels();  // the write can be read
    Crash(seed);
    ExpectModels();  // and is still there
  }
}

TEST_F(SharedLogTest, NodeLogOpensABrokenLogAgain) {
  NodeLog node_log(files_);
  const auto first = node_log.Attach("a");
  ASSERT_TRUE(first.ok());
  PartitionChange change;
  change.partition = first->found.partition;
  change.state = "state";
  ASSERT_TRUE(first->log->Commit({change}).ok());
  EXPECT_EQ(node_log.Attach("b")->log, first->log);
  files_.FailWrites(ResourceExhausted("no space left"));
  EXPECT_FALSE(first->log->Commit({change}).ok());
  EXPECT_FALSE(node_log.Attach("a").ok()) << "the disk is still full";
  files_.FailWrites(OkStatus());
  const auto second = node_log.Attach("a");
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_NE(second->log, first->log);
  EXPECT_EQ(second->found.state, "state");
  EXPECT_FALSE(first->log->Commit({change}).ok());
  EXPECT_TRUE(second->log->Commit({change}).ok());
}

// Counts how often the files are looked for, which each opening of a log does once.
class CountingFiles : public LogFiles {
 public:
  explicit CountingFiles(LogFiles& files) : files_(files) {}
  StatusOr<std::unique_ptr<LogFile>> Open(std::string_view name) override {
    return files_.Open(name);
  }
  Status Remove(std::string_view name) override { return files_.Remove(name); }
  StatusOr<std::vector<std::string>> List() const override {
    ++list_count_;
    return files_.List();
  }
  int list_count() const { return list_count_; }

 private:
  LogFiles& files_;
  mutable int list_count_ = 0;
};

TEST_F(SharedLogTest, NodeLogReadsNothingAgainWhileTheDiskIsFull) {
  CountingFiles counting(files_);
  NodeLog node_log(counting);
  const auto first = node_log.Attach("a");
  ASSERT_TRUE(first.ok());
  PartitionChange change;
  change.partition = first->found.partition;
  change.state = "state";
  files_.FailWrites(ResourceExhausted("no space left"));
  EXPECT_FALSE(first->log->Commit({change}).ok());
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(node_log.Attach("a").status().code(), StatusCode::kResourceExhausted);
  }
  EXPECT_EQ(counting.list_count(), 1);
  files_.FailWrites(OkStatus());
  EXPECT_TRUE(node_log.Attach("a").ok());
  EXPECT_TRUE(node_log.Attach("b").ok());
  EXPECT_EQ(counting.list_count(), 2);
  for (const std::string& name : files_.Names()) EXPECT_NE(name, "proof");
}

TEST_F(SharedLogTest, FilesOfTwoLogsAreRefused) {
  Open();
  ASSERT_TRUE(Store(1, {"a"}).ok());
  log_.reset();
  files_.Replace("0000000000000001-00000001", "another log");
  EXPECT_EQ(SharedLog::Open(files_, {}).status().code(), StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace neptune
