// Transfers of a member's data in which an end fails, waits, or has no room.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "neptune/replication/agent/snapshot_transfer_fixture.h"

namespace neptune {
namespace {

class SnapshotFaultsTest : public SnapshotTransferTest {
 protected:
  // From the third pull on, the receiver's data cannot be written.
  void FailTheReceiversDisk() {
    on_pull_ = [this] {
      if (pull_count_ != 3) return;
      world_.sim_storage().Intercept([](std::string_view store, WriteMode) {
        return store == "data-to" ? ResourceExhausted("no space left") : OkStatus();
      });
    };
  }
};

TEST_F(SnapshotFaultsTest, FailureOfTheReceiversDiskEndsTheRestore) {
  Make();
  WriteMany(400);
  FailTheReceiversDisk();
  ASSERT_TRUE(RunRestore());
  world_.sim_storage().Intercept(nullptr);
  EXPECT_EQ(failure_.code(), StatusCode::kResourceExhausted) << failure_;
  EXPECT_EQ(to_->data().state()->completed(), 0u);
}

TEST_F(SnapshotFaultsTest, DamageOfTheReceiversDiskEndsTheRestore) {
  Make();
  WriteMany(400);
  on_pull_ = [this] {
    if (pull_count_ != 1) return;
    world_.sim_storage().Intercept([](std::string_view store, WriteMode) {
      return store == "data-to" ? DataLoss("a file is damaged") : OkStatus();
    });
  };
  ASSERT_TRUE(RunRestore(std::chrono::minutes(1)));
  world_.sim_storage().Intercept(nullptr);
  EXPECT_EQ(failure_.code(), StatusCode::kDataLoss) << failure_;
  EXPECT_EQ(pull_count_, 1) << "the sender is not blamed";
  EXPECT_TRUE(to_->data().is_damaged()) << "they are destroyed when the replica is opened again";
}

TEST_F(SnapshotFaultsTest, MemberThatWaitsForASenderHasNoPlaceMeanwhile) {
  Make();
  WriteMany(400);
  std::vector<bool> was_free;
  on_pull_ = [this, &was_free] {
    was_free.push_back(places_.Take("restores").ok());
    if (pull_count_ < 3 || pull_count_ > 9) return;
    lost_one_in_ = 1;
    loop_.RunAt(loop_.Now() + std::chrono::minutes(2), [this] { lost_one_in_ = 0; });
  };
  bool was_free_once = false;
  for (int i = 1; i < 60; ++i) {
    loop_.RunAt(loop_.Now() + std::chrono::seconds(i),
                [&] { was_free_once |= places_.Take("restores").ok(); });
  }
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(begin_count_, 1);
  EXPECT_TRUE(was_free_once);
  for (size_t i = 0; i < was_free.size(); ++i) EXPECT_FALSE(was_free[i]) << "pull " << i;
  EXPECT_EQ(to_->contents(), from_->contents());
}

TEST_F(SnapshotFaultsTest, SenderThatIsTooOldIsRefusedAlsoAfterTheDataAreGone) {
  Make();
  WriteMany(400);
  on_pull_ = [this] {
    if (pull_count_ == 3) {
      MakeSender();
      least_data_end_ = 401;
    }
    if (pull_count_ == 6) {
      from_->Write();
      least_data_end_ = 401;
    }
  };
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->data().executed(), 401u);
  EXPECT_EQ(to_->contents(), from_->contents());
}

TEST_F(SnapshotFaultsTest, SenderThatDoesNotAnswerAnyMoreHoldsNothingUp) {
  Make();
  WriteMany(100);
  leaves_are_lost_ = true;
  const TimePoint began_at = simulator_.now();
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_LT(simulator_.now() - began_at, std::chrono::seconds(1));
  EXPECT_EQ(sender_->totals().active, 1) << "until it is idle for too long";
}

TEST_F(SnapshotFaultsTest, TransferThatWasGivenUpIsLetGoAtOnce) {
  Make();
  WriteMany(400);
  FailTheReceiversDisk();
  ASSERT_TRUE(RunRestore());
  world_.sim_storage().Intercept(nullptr);
  EXPECT_EQ(sender_->totals().active, 0);
  EXPECT_EQ(sender_->totals().finished, 0u);
  EXPECT_EQ(sender_->PinnedAfter(), SnapshotSender::kNoPin);
}

TEST_F(SnapshotFaultsTest, ViewsAreLetGoWhileTheSendersDiskIsAlmostFull) {
  Make();
  WriteMany(300);
  Run([this] {
    ASSERT_TRUE(sender_->Pull({.receiver = NodeId("n2")}).ok());
    disk_.Update({.total = 100'000, .free = 900});
    EXPECT_TRUE(sender_->TakeExpired(this_thread::Now()).empty()) << "writes are refused first";
    const StatusOr<std::string> refused = sender_->Pull({.receiver = NodeId("n3")});
    EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
    disk_.Update({.total = 100'000, .free = 100});
    sender_->Close(sender_->TakeExpired(this_thread::Now()));
    EXPECT_EQ(sender_->totals().active, 0);
    disk_.Update({.total = 100'000, .free = 90'000});
    EXPECT_TRUE(sender_->Pull({.receiver = NodeId("n3")}).ok());
  });
}

TEST_F(SnapshotFaultsTest, TransferWaitsWhileTheNodeHasNoMemory) {
  Make();
  WriteMany(800);
  MemoryCharge filling;
  size_t used_max = 0;
  on_pull_ = [&] {
    used_max = std::max(used_max, budget_->used(MemoryUse::kSnapshots));
    if (pull_count_ != 4) return;
    ASSERT_TRUE(others_->TryCharge(MemoryUse::kRequests, budget_->size() - budget_->used(),
                                   MemoryRank::kControl, &filling));
    loop_.RunAt(loop_.Now() + std::chrono::seconds(90), [&] { filling.Release(); });
  };
  const TimePoint began_at = simulator_.now();
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_GT(simulator_.now() - began_at, std::chrono::seconds(89));
  EXPECT_EQ(to_->contents(), from_->contents());
  EXPECT_EQ(restore_->progress().chunk_count, 9u) << "of one transfer";
  EXPECT_GT(budget_->refusals(MemoryUse::kSnapshots), 10u);
  EXPECT_GT(used_max, kSnapshotChunkSize);
  EXPECT_LE(used_max, 8 * kSnapshotChunkSize);
  EXPECT_EQ(budget_->used(), 0u) << "after the transfer";
}

TEST_F(SnapshotFaultsTest, TransferForWhichThereIsNoMemoryDoesNotBegin) {
  Make();
  WriteMany(300);
  MemoryCharge filling;
  ASSERT_TRUE(others_->TryCharge(MemoryUse::kRequests, budget_->size() - kSnapshotChunkSize,
                                 MemoryRank::kControl, &filling));
  Run([this] {
    const StatusOr<std::string> refused = sender_->Pull({.receiver = NodeId("n2")});
    EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted) << refused.status();
    EXPECT_EQ(sender_->totals().active, 0);
  });
  EXPECT_EQ(sender_->PinnedAfter(), SnapshotSender::kNoPin);
  filling.Release();
  EXPECT_EQ(budget_->used(), 0u);
  ASSERT_TRUE(RunRestore());
  EXPECT_TRUE(result_.ok()) << result_;
}

TEST_F(SnapshotFaultsTest, EntryManyTimesLargerThanAChunkIsCarried) {
  Make();
  WriteMany(300);
  on_pull_ = [this] {
    if (pull_count_ == 2) from_->Write(8 * kSnapshotChunkSize);
  };
  ASSERT_TRUE(RunRestore());
  ASSERT_TRUE(result_.ok()) << result_;
  EXPECT_EQ(to_->contents(), from_->contents());
  EXPECT_GT(largest_, 8 * kSnapshotChunkSize);
  EXPECT_EQ(budget_->used(), 0u);
}

}  // namespace
}  // namespace neptune
