// Replicated services whose disks fill up and are emptied again, on whole nodes of a simulated
// cluster.

#include <gtest/gtest.h>

#include <string>

#include "neptune/base/disk_room.h"
#include "neptune/base/strings.h"
#include "neptune/world/sim/sim_world.h"
#include "tests/runtime/replicated_registers.h"

namespace neptune {
namespace {

using std::chrono::seconds;
using FullDiskTest = ReplicatedRegistersTest;

constexpr uint64_t kMiB = uint64_t{1} << 20;
// The disk is 64 MiB, and the reserve a tenth of it.
constexpr uint64_t kDisk = 64 * kMiB;

// Fills the disk up to `free` bytes, as other programs would.
void LeaveFree(SimStorage& storage, uint64_t free) {
  storage.LimitSpace(UINT64_MAX);
  const auto store = *storage.Open("foreign");
  WriteBatch batch;
  batch.DeleteRange("a", "z");
  ASSERT_TRUE(store->Write(batch, WriteMode::kSynced).ok());
  storage.LimitSpace(kDisk);
  const uint64_t there = storage.Space()->free;
  ASSERT_GT(there, free);
  const uint64_t size = there - free;
  for (uint64_t i = 0; i < size / kMiB; ++i) {
    ASSERT_TRUE(
        store->Put(StrCat("f", 1000 + i), std::string(kMiB - 5, 'x'), WriteMode::kSynced).ok());
  }
}

double MetricOf(Node& node, std::string_view name) { return node.metrics().Value(name).value(); }

TEST_F(FullDiskTest, PrimaryWithoutRoomHandsOverToAMemberWithRoomUntilItHasSome) {
  Start(3, kOrdered);
  SimStorage& disk = simulator().host("s0").sim_storage();
  InSession([](ReplicaSession& session) { EXPECT_EQ(Append(session, "k=a").value(), "a"); });
  ASSERT_EQ(PrimaryBy("s2"), "s0");
  LeaveFree(disk, 5 * kMiB);
  LeaveFree(simulator().host("s1").sim_storage(), 5 * kMiB);
  simulator().RunFor(seconds(2));
  EXPECT_EQ(PrimaryBy("s2"), "s2") << "the only one with room";
  InSession([](ReplicaSession& session) { EXPECT_EQ(Append(session, "k=b").value(), "ab"); });
  simulator().RunFor(seconds(10));
  InSession([](ReplicaSession& session) { EXPECT_EQ(Get(session, "k").value(), "ab"); });
  EXPECT_EQ(PrimaryBy("s2"), "s2") << "it stays";
  EXPECT_EQ(Agent("s0")->state()->completed(), Agent("s2")->state()->completed());
  EXPECT_EQ(Agent("s0")->status().role, ReplicaRole::kSecondary);
  EXPECT_TRUE(Agent("s0")->status().failure.ok());

  LeaveFree(disk, 40 * kMiB);
  simulator().RunFor(seconds(5));
  EXPECT_EQ(PrimaryBy("s2"), "s0") << "it is preferred";
  InSession([](ReplicaSession& session) { EXPECT_EQ(Append(session, "k=c").value(), "abc"); });
}

TEST_F(FullDiskTest, MemberWithoutRoomIsNotElectedWhileAnotherHasRoom) {
  Start(3, kOrdered);
  InSession([](ReplicaSession& session) { EXPECT_TRUE(Append(session, "k=a").ok()); });
  LeaveFree(simulator().host("s1").sim_storage(), 5 * kMiB);
  simulator().RunFor(seconds(1));
  simulator().Crash("s0");
  simulator().RunFor(seconds(2));
  EXPECT_EQ(PrimaryBy("s1"), "s2");
  InSession([](ReplicaSession& session) { EXPECT_EQ(Append(session, "k=b").value(), "ab"); });
}

TEST_F(FullDiskTest, OnlyReplicaRefusesWritesBeforeItsDiskIsFullAndReadsGoOn) {
  Start(1, kOrdered);
  SimStorage& disk = simulator().host("s0").sim_storage();
  InSession([](ReplicaSession& session) { EXPECT_EQ(Append(session, "k=a").value(), "a"); });
  LeaveFree(disk, 5 * kMiB);
  simulator().RunFor(seconds(1));
  InSession([](ReplicaSession& session) {
    const auto refused = Append(session, "k=b");
    EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted) << refused.status();
    EXPECT_NE(refused.status().message().find("disk"), std::string::npos) << refused.status();
    EXPECT_EQ(Get(session, "k").value(), "a");
  });
  EXPECT_TRUE(Agent("s0")->status().failure.ok());
  EXPECT_GE(MetricOf(cluster_->node("s0"), "neptune_disk_refused_writes_total"), 1);

  LeaveFree(disk, 40 * kMiB);
  simulator().RunFor(seconds(1));
  InSession([](ReplicaSession& session) { EXPECT_EQ(Append(session, "k=c").value(), "ac"); });
}

TEST_F(FullDiskTest, MemberWithAFullDiskIsCountedOutAndComesBackByItself) {
  Start(3, kOrdered);
  InSession([](ReplicaSession& session) { EXPECT_TRUE(Append(session, "k=a").ok()); });
  SimStorage& disk = simulator().host("s2").sim_storage();
  LeaveFree(disk, 2 * kMiB);
  simulator().RunFor(seconds(1));
  const Lsn before = Agent("s2")->status().executed;
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(Append(session, "k=b").ok());
  });
  simulator().RunFor(seconds(2));
  EXPECT_EQ(PrimaryBy("s2"), "s0") << "it still hears its primary";
  EXPECT_LE(Agent("s2")->status().executed, before + 1) << "it takes no entries";
  EXPECT_TRUE(Agent("s2")->status().failure.ok());
  EXPECT_GT(disk.Space()->free, kMiB);

  LeaveFree(disk, 40 * kMiB);
  simulator().RunFor(seconds(5));
  EXPECT_EQ(Agent("s2")->state()->completed(), Agent("s0")->state()->completed());
  InSession([](ReplicaSession& session) {
    EXPECT_EQ(Get(session, "k").value(), "a" + std::string(50, 'b'));
  });
}

TEST_F(FullDiskTest, FullDisksOfAllMembersStopWritesOnly) {
  Start(3, kOrdered);
  InSession([](ReplicaSession& session) { EXPECT_TRUE(Append(session, "k=a").ok()); });
  for (const char* node : {"s0", "s1", "s2"}) {
    LeaveFree(simulator().host(node).sim_storage(), 2 * kMiB);
  }
  simulator().RunFor(seconds(10));
  InSession([](ReplicaSession& session) {
    EXPECT_EQ(Append(session, "k=b").status().code(), StatusCode::kResourceExhausted);
    EXPECT_EQ(Get(session, "k").value(), "a");
  });
  for (const char* node : {"s0", "s1", "s2"}) {
    EXPECT_TRUE(Agent(node)->status().failure.ok()) << node;
    LeaveFree(simulator().host(node).sim_storage(), 40 * kMiB);
  }
  simulator().RunFor(seconds(2));
  InSession([](ReplicaSession& session) { EXPECT_EQ(Append(session, "k=c").value(), "ac"); });
}

TEST_F(FullDiskTest, WriteAnywhereRefusesWritesAtTheFullReplicaOnly) {
  Start(3, "level: 'write_anywhere'");
  InSession([](ReplicaSession& session) { EXPECT_TRUE(Append(session, "k=a").ok()); });
  for (const char* node : {"s0", "s1", "s2"}) {
    LeaveFree(simulator().host(node).sim_storage(), 5 * kMiB);
  }
  simulator().RunFor(seconds(1));
  InSession([](ReplicaSession& session) {
    EXPECT_EQ(Append(session, "k=b").status().code(), StatusCode::kResourceExhausted);
  });
  LeaveFree(simulator().host("s0").sim_storage(), 40 * kMiB);
  LeaveFree(simulator().host("s1").sim_storage(), 40 * kMiB);
  LeaveFree(simulator().host("s2").sim_storage(), 40 * kMiB);
  simulator().RunFor(seconds(2));
  InSession([](ReplicaSession& session) { EXPECT_TRUE(Append(session, "k=c").ok()); });
}

}  // namespace
}  // namespace neptune
