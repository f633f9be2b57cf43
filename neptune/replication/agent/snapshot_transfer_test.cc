// The transfer of a member's data to another member, with losses on the way.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "neptune/replication/agent/snapshot_transfer_fixture.h"

namespace neptune {
namespace {

TEST_F(SnapshotTransferTest, DataOfManyChunksArriveChunkByChunk) {
  Make();
  WriteMany(800);
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->contents(), from_->contents());
  EXPECT_EQ(to_->data().executed(), 800u);
  EXPECT_EQ(to_->data().state()->completed(), 800u);
  EXPECT_EQ(to_->log().first_lsn(), 801u);
  EXPECT_GE(pull_count_, 8);
  EXPECT_LE(largest_, kChunkSizeMax);
  EXPECT_EQ(sender_->totals().finished, 1u);
  EXPECT_EQ(sender_->totals().active, 0);
  const ReplicaRestore::Progress progress = restore_->progress();
  EXPECT_EQ(progress.taken_count, 1u);
  EXPECT_EQ(progress.chunk_count, static_cast<uint64_t>(pull_count_));
  EXPECT_GT(progress.taken_size, 800 * kValueSize);
  EXPECT_FALSE(progress.since.has_value());
}

TEST_F(SnapshotTransferTest, WritesThatComeMeanwhileAreInTheRestoredData) {
  Make();
  WriteMany(500);
  on_pull_ = [this] {
    for (int i = 0; i < 20 && from_->log().last_lsn() < 1200; ++i) from_->Write();
  };
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->contents(), from_->contents());
  EXPECT_EQ(to_->data().executed(), from_->data().executed());
  EXPECT_GT(to_->data().executed(), 600u);
  EXPECT_LE(largest_, kChunkSizeMax);
  EXPECT_EQ(world_.storage().List()->size(), 2u) << "the spool is removed";
  // An answer to a write that came meanwhile is remembered.
  Run([this] {
    LogEntry again{.lsn = 5000, .method = MethodName("Put"), .request_id = {7, 550}, .payload = ""};
    ASSERT_TRUE(to_->data().state() != nullptr);
    again.lsn = to_->data().executed() + 1;
    const auto change = std::make_shared<LogChange>();
    change->entries = {again};
    ASSERT_TRUE(to_->log().Store(change).ok());
    to_->data().Allow(again.lsn);
    ASSERT_TRUE(to_->data().ExecuteSome(to_->log(), nullptr).ok());
  });
  EXPECT_EQ(to_->contents(), from_->contents()) << "it is not executed again";
}

// The log is dropped as far as the transfer allows, whatever its members need.
TEST_F(SnapshotTransferTest, LogIsPinnedOnlyForWhatTheNextChunkCarries) {
  Make();
  WriteMany(1500);  // 15 chunks
  size_t log_size_max = 0;
  int write_count = 0;
  on_pull_ = [this, &log_size_max, &write_count] {
    for (int i = 0; i < 50 && write_count < 700; ++i, ++write_count) from_->Write();
    log_size_max = std::max(log_size_max, from_->log().size());
    const Lsn last = std::min(from_->data().executed(), sender_->PinnedAfter());
    ASSERT_TRUE(from_->log().DropBefore(last + 1).ok());
  };
  Run([this] { ASSERT_TRUE(from_->log().DropBefore(1501).ok()); });
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(begin_count_, 1);
  EXPECT_EQ(write_count, 700) << "7 MB of writes during the transfer";
  EXPECT_LE(log_size_max, 2 * kSnapshotChunkSize);
  EXPECT_EQ(to_->contents(), from_->contents());
  EXPECT_NE(sender_->PinnedAfter(), SnapshotSender::kNoPin) << "until the receiver is sent more";
  simulator_.RunFor(std::chrono::seconds(3));
  Run([this] { sender_->Close(sender_->TakeExpired(this_thread::Now())); });
  EXPECT_EQ(sender_->PinnedAfter(), SnapshotSender::kNoPin);
}

TEST_F(SnapshotTransferTest, LostPullsAndAnswersAreRepeatedInTheSameTransfer) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    random_ = RandomSource(seed);
    if (seed == 1) {
      Make();
      WriteMany(800);
    }
    lost_one_in_ = 0;
    int count = 0;
    on_pull_ = [this, &count] {
      if (++count > 1) lost_one_in_ = 3;
      if (count < 6) from_->Write();
    };
    ASSERT_TRUE(RunRestore());
    ASSERT_TRUE(result_.ok()) << result_;
    EXPECT_EQ(to_->contents(), from_->contents());
    EXPECT_EQ(begin_count_, static_cast<int>(seed)) << "none began again";
  }
}

TEST_F(SnapshotTransferTest, CutOffReceiverGoesOnWhereItWas) {
  Make();
  WriteMany(1000);
  on_pull_ = [this] {
    if (pull_count_ != 5) return;
    lost_one_in_ = 1;
    loop_.RunAt(loop_.Now() + std::chrono::seconds(20), [this] { lost_one_in_ = 0; });
  };
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->contents(), from_->contents());
  EXPECT_EQ(restore_->progress().chunk_count, 11u) << "of one transfer";
}

TEST_F(SnapshotTransferTest, SenderThatHasForgottenTheTransferIsAskedForAnother) {
  Make();
  WriteMany(1000);
  on_pull_ = [this] {
    if (pull_count_ == 6) MakeSender();
  };
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->contents(), from_->contents());
  EXPECT_EQ(begin_count_, 1) << "the data were gone already";
  EXPECT_EQ(restore_->progress().taken_count, 1u);
}

TEST_F(SnapshotTransferTest, LogThatCouldNotWaitEndsTheTransferAndTheNextOneSucceeds) {
  Make();
  WriteMany(1000);
  on_pull_ = [this] {
    from_->Write();
    if (pull_count_ != 4) return;
    from_->Write();
    ASSERT_TRUE(from_->log().DropBefore(from_->data().executed() + 1).ok());
  };
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->contents(), from_->contents());
  EXPECT_GT(pull_count_, 13);
}

TEST_F(SnapshotTransferTest, RefusedRestoreLeavesTheDataAsTheyAre) {
  Make();
  WriteMany(100);
  Run([this] { to_->Write(); });
  const TransferContents before = to_->contents();
  lost_one_in_ = 1;
  ASSERT_TRUE(RunRestore());
  EXPECT_EQ(result_.code(), StatusCode::kUnavailable);
  EXPECT_EQ(begin_count_, 0);
  EXPECT_EQ(to_->contents(), before);
  EXPECT_EQ(to_->data().executed(), 1u);
}

TEST_F(SnapshotTransferTest, MemberThatHasEverythingAlreadyKeepsItsData) {
  Make();
  WriteMany(3);
  Run([this] {
    for (int i = 0; i < 5; ++i) to_->Write();
  });
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(begin_count_, 0);
  EXPECT_EQ(to_->data().executed(), 5u);
  EXPECT_EQ(sender_->totals().active, 0) << "the sender knows";
  EXPECT_EQ(sender_->totals().finished, 0u);
}

TEST_F(SnapshotTransferTest, ReceiverThatIsGoneHoldsWhatItHasForAMinute) {
  Make();
  WriteMany(300);
  const SnapshotPull first = {.receiver = NodeId("gone")};
  Run([&] { ASSERT_TRUE(sender_->Pull(first).ok()); });
  EXPECT_EQ(sender_->totals().active, 1);
  EXPECT_EQ(sender_->PinnedAfter(), 300u);
  simulator_.RunFor(kSnapshotIdleMax - std::chrono::seconds(1));
  Run([this] { EXPECT_TRUE(sender_->TakeExpired(this_thread::Now()).empty()); });
  simulator_.RunFor(std::chrono::seconds(2));
  Run([this] { sender_->Close(sender_->TakeExpired(this_thread::Now())); });
  EXPECT_EQ(sender_->totals().active, 0);
  EXPECT_EQ(sender_->PinnedAfter(), SnapshotSender::kNoPin);
}

TEST_F(SnapshotTransferTest, ReceiverThatBeginsAgainGivesUpItsFirstTransfer) {
  Make();
  WriteMany(300);
  Run([this] {
    const SnapshotPull begin = {.receiver = NodeId("n2")};
    const auto first = DecodeSnapshotChunk(*sender_->Pull(begin));
    ASSERT_TRUE(sender_->Pull({.receiver = NodeId("n3")}).ok());
    ASSERT_TRUE(sender_->Pull(begin).ok());
    EXPECT_EQ(sender_->totals().active, 2);
    EXPECT_EQ(sender_->Pull({.receiver = NodeId("n2"), .token = first->token, .index = 1})
                  .status()
                  .code(),
              StatusCode::kNotFound);
  });
}

TEST_F(SnapshotTransferTest, LogOfLevelOneIsStoredBeforeItsDataCount) {
  Make(/*is_ordered=*/false);
  WriteMany(600);
  Run([this] { ASSERT_TRUE(from_->log().DropBefore(101).ok()); });
  on_pull_ = [this] {
    if (from_->log().last_lsn() < 700) from_->Write();
  };
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->log().first_lsn(), 101u);
  EXPECT_EQ(to_->log().last_lsn(), from_->log().last_lsn());
  EXPECT_EQ(to_->data().executed(), 601u) << "the end of the pieces";
  Run([this] {
    to_->data().Allow(to_->log().last_lsn());
    while (to_->data().executed() < to_->log().last_lsn()) {
      ASSERT_TRUE(to_->data().ExecuteSome(to_->log(), nullptr).ok());
    }
  });
  EXPECT_EQ(to_->contents(), from_->contents());
}

// Notes the order of the synced writes at the end of a restore.
TEST_F(SnapshotTransferTest, DataAreMadeDurableOnlyAfterTheirLog) {
  for (const bool is_ordered : {true, false}) {
    Make(is_ordered);
    WriteMany(50);
    std::vector<std::string> synced;
    world_.sim_storage().Intercept([&](std::string_view store, WriteMode mode) {
      const bool is_receivers = store == "data-to" || IsLog(store);
      if (mode == WriteMode::kSynced && is_receivers) {
        synced.emplace_back(IsLog(store) ? "log" : store);
      }
      return OkStatus();
    });
    ASSERT_TRUE(RunRestore());
    ASSERT_TRUE(result_.ok()) << result_;
    world_.sim_storage().Intercept(nullptr);
    ASSERT_GE(synced.size(), 3u);
    EXPECT_EQ(synced.front(), "data-to") << "the mark of the restore";
    EXPECT_EQ(synced.back(), "data-to");
    for (size_t i = 1; i + 1 < synced.size(); ++i) EXPECT_EQ(synced[i], "log") << i;
    stopping_ = true;
    storer_->Wake();
    simulator_.RunFor(std::chrono::seconds(1));
    stopping_ = false;
    restore_.reset();
    storer_.reset();
    sender_.reset();
    from_.reset();
    to_.reset();
    committer_.reset();
    const auto names = world_.storage().List();
    for (const std::string& name : *names) {
      ASSERT_TRUE(world_.storage().Destroy(name).ok());
    }
    for (const std::string& name : world_.sim_storage().log_files().Names()) {
      ASSERT_TRUE(world_.storage().log_files().Remove(name).ok());
    }
  }
}

TEST_F(SnapshotTransferTest, DataDoNotCountIfTheirLogCannotBeStored) {
  Make();
  WriteMany(50);
  world_.sim_storage().Intercept([&](std::string_view store, WriteMode) {
    return IsLog(store) ? Unavailable("the disk refuses") : OkStatus();
  });
  ASSERT_TRUE(RunRestore());
  EXPECT_EQ(result_.code(), StatusCode::kCancelled) << result_;
  world_.sim_storage().Intercept(nullptr);
  EXPECT_EQ(to_->data().state()->completed(), 0u);
  world_.sim_storage().EndProcess();
  stopping_ = false;
  LogCommitter of_new_process(world_.storage(), 1);
  TransferMember again(world_, of_new_process, stopping_, "to", /*is_ordered=*/true);
  Run([&] { again.Open(); });
  EXPECT_EQ(again.data().state()->completed(), 0u) << "data ahead of their log";
  EXPECT_TRUE(again.contents().empty());
}

}  // namespace
}  // namespace neptune
