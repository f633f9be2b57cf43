#include "neptune/replication/agent/log_committer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/thread/simulated_threads.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

LogIdentity IdentityOf(uint32_t partition) {
  return {"east", ServiceName("forum"), PartitionId(partition), NodeId("n")};
}

// Replicas of a node whose disk takes a millisecond for each call.
class LogCommitterTest : public SimulatedThreads {
 protected:
  struct Replica {
    std::atomic<bool> stopping{false};
    std::unique_ptr<ReplicaDevice> device;
    std::shared_ptr<RedoLog> log;
    int stored_count = 0;
    Status failure;
  };

  LogCommitterTest() { EXPECT_TRUE(MakeReplicationCapsules(stack_).ok()); }
  ~LogCommitterTest() override { StopThreads(); }

  Replica& Add(uint32_t partition) {
    replicas_.push_back(std::make_unique<Replica>());
    Replica& replica = *replicas_.back();
    replica.device = std::make_unique<ReplicaDevice>(&stack_, ServiceName("forum"),
                                                     PartitionId(partition), replica.stopping);
    auto log = committer_.Open(IdentityOf(partition));
    EXPECT_TRUE(log.ok()) << log.status();
    replica.log = *std::move(log);
    return replica;
  }
  // Starts a thread that stores entries from the replica's last one on, one after the other.
  void StartStoring(Replica& replica, int count, size_t size = 10) {
    Spawn([this, &replica, count, size] {
      for (int i = 0; i < count && replica.failure.ok(); ++i) {
        const auto change = std::make_shared<LogChange>();
        change->entries = {{.lsn = replica.log->last_lsn() + 1,
                            .epoch = 1,
                            .method = MethodName("Put"),
                            .payload = std::string(size, 'x')}};
        replica.failure = committer_.Store(*replica.device, replica.log, change);
        replica.stored_count += replica.failure.ok() ? 1 : 0;
      }
    });
  }
  SimLogFiles& files() { return world_.sim_storage().log_files(); }

  CapsuleStack stack_{{.device_time = [](std::string_view) { return milliseconds(1); }}};
  LogCommitter committer_{world_.storage(), 1};
  std::vector<std::unique_ptr<Replica>> replicas_;
};

TEST_F(LogCommitterTest, ReplicasThatStoreAtTheSameTimeShareTheSyncs) {
  constexpr int kReplicaCount = 100;
  constexpr int kChangeCount = 20;
  for (uint32_t i = 0; i < kReplicaCount; ++i) Add(i);
  const uint64_t before = files().sync_count();
  const TimePoint began_at = simulator_.now();
  for (const auto& replica : replicas_) StartStoring(*replica, kChangeCount);
  simulator_.RunFor(seconds(1));
  for (const auto& replica : replicas_) ASSERT_EQ(replica->stored_count, kChangeCount);
  EXPECT_LE(files().sync_count() - before, 2u * kChangeCount)
      << kReplicaCount * kChangeCount << " changes were stored";
  EXPECT_GE(files().sync_count() - before, uint64_t{kChangeCount});
  EXPECT_GE(simulator_.now(), began_at + milliseconds(kChangeCount));
}

TEST_F(LogCommitterTest, WhatIsStoredIsThereWhenTheLogIsOpenedAgain) {
  for (uint32_t i = 0; i < 3; ++i) StartStoring(Add(i), 5);
  simulator_.RunFor(seconds(1));
  LogCommitter again(world_.storage(), 1);
  for (uint32_t i = 0; i < 3; ++i) {
    const auto log = again.Open(IdentityOf(i));
    ASSERT_TRUE(log.ok()) << log.status();
    EXPECT_EQ((*log)->last_lsn(), 5u);
  }
}

TEST_F(LogCommitterTest, ReplicaThatStopsDoesNotStopTheOthers) {
  Replica& first = Add(0);
  Replica& second = Add(1);
  Replica& third = Add(2);
  StartStoring(first, 1);  // it leads
  StartStoring(second, 3);
  StartStoring(third, 3);
  second.stopping = true;  // its change is stored by the others, or not at all
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(first.stored_count, 1);
  EXPECT_EQ(third.stored_count, 3);
  EXPECT_EQ(second.failure.code(), StatusCode::kCancelled);
  EXPECT_LT(second.stored_count, 3);
}

TEST_F(LogCommitterTest, LargeChangesAreStoredInSeveralGroups) {
  for (uint32_t i = 0; i < 5; ++i) StartStoring(Add(i), 1, LogCommitter::kGroupSizeMax / 2);
  const uint64_t before = files().sync_count();
  simulator_.RunFor(seconds(1));
  for (const auto& replica : replicas_) EXPECT_EQ(replica->stored_count, 1) << replica->failure;
  EXPECT_GE(files().sync_count() - before, 3u);
}

TEST_F(LogCommitterTest, FullDiskFailsAllAndTheLogCanBeOpenedAgain) {
  for (uint32_t i = 0; i < 3; ++i) Add(i);
  world_.sim_storage().FailWrites(ResourceExhausted("no space left"));
  for (const auto& replica : replicas_) StartStoring(*replica, 1);
  simulator_.RunFor(seconds(1));
  for (const auto& replica : replicas_) EXPECT_FALSE(replica->failure.ok());
  world_.sim_storage().FailWrites(OkStatus());
  for (uint32_t i = 0; i < 3; ++i) {
    replicas_[i]->log = *committer_.Open(IdentityOf(i));
    replicas_[i]->failure = OkStatus();
    StartStoring(*replicas_[i], 2);
  }
  simulator_.RunFor(seconds(1));
  for (const auto& replica : replicas_) EXPECT_EQ(replica->stored_count, 2) << replica->failure;
}

TEST_F(LogCommitterTest, ErrorOfOneReplicaIsItsOwn) {
  Replica& first = Add(0);
  Replica& second = Add(1);
  Spawn([&] {
    const auto gap = std::make_shared<LogChange>();
    gap->entries = {{.lsn = 7, .epoch = 1}};
    first.failure = committer_.Store(*first.device, first.log, gap);
  });
  StartStoring(second, 2);
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(first.failure.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(second.stored_count, 2);
}

TEST_F(LogCommitterTest, LogOfAnOlderVersionIsRefused) {
  ASSERT_TRUE(world_.storage().Open("log-forum-4").ok());
  EXPECT_EQ(committer_.Open(IdentityOf(4)).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(committer_.Open(IdentityOf(5)).ok());
}

}  // namespace
}  // namespace neptune
