#include "neptune/replication/agent/replica_device.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "neptune/base/strings.h"
#include "neptune/capsule/capsule.h"
#include "neptune/replication/agent/replication_services.h"
#include "neptune/thread/simulated_threads.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A node's capsules over a device on which each call takes a millisecond.
class ReplicaDeviceTest : public SimulatedThreads {
 protected:
  ~ReplicaDeviceTest() override { StopThreads(); }

  // Creates a capsule of the spec that takes all lanes.
  void GiveAllLanes(const std::string& name, const CapsuleLimits& limits) {
    CapsuleConfig config;
    config.name = name;
    config.type = ResourceType::kDevice;
    config.limits = limits;
    config.rules = {*ClassificationRule::Parse(StrCat("disk:", kReplicationDevice, "/**"))};
    ASSERT_TRUE(stack_.Create(config).ok());
  }
  // Spawns calls that are all made at once, and counts those that have ended.
  void Call(ReplicaLane lane, int count) {
    for (int i = 0; i < count; ++i) {
      Spawn([this, lane] {
        EXPECT_TRUE(device_.Run(lane, [] { return OkStatus(); }).ok());
        ++ended_[lane];
      });
    }
  }
  const Capsule& CapsuleOf(ReplicaLane lane) {
    return *stack_.Find(DeviceOperation{device_.path(lane)});
  }

  CapsuleStack stack_{{.device_time = [](std::string_view) { return milliseconds(1); }}};
  std::atomic<bool> stopping_{false};
  const ReplicaDevice device_{&stack_, ServiceName("registers"), PartitionId(7), stopping_};
  std::map<ReplicaLane, int> ended_;
};

TEST_F(ReplicaDeviceTest, EachLaneHasACapsuleOfItsOwn) {
  ASSERT_TRUE(MakeReplicationCapsules(stack_).ok());
  for (const ReplicaLane lane : kReplicaLanes) {
    EXPECT_EQ(device_.path(lane), StrCat("/neptune/replication/registers/7/", NameOf(lane)));
    EXPECT_EQ(CapsuleOf(lane).config().name, StrCat("replication-", NameOf(lane)));
  }
  EXPECT_TRUE(MakeReplicationCapsules(stack_).ok()) << "another replica of the node";
}

TEST_F(ReplicaDeviceTest, ACapsuleOfTheSpecKeepsItsLanes) {
  GiveAllLanes("all", {});
  ASSERT_TRUE(MakeReplicationCapsules(stack_).ok());
  for (const ReplicaLane lane : kReplicaLanes) EXPECT_EQ(CapsuleOf(lane).config().name, "all");
}

TEST_F(ReplicaDeviceTest, CallsToOtherReplicasDoNotShareACapsuleWithUsersCalls) {
  CapsuleConfig crowded = DefaultCapsuleConfig();
  crowded.limits.resident_count_max = 1;
  ASSERT_TRUE(stack_.Change(crowded).ok());
  CapsuleConfig rack;
  rack.name = "rack";
  rack.rules = {*ClassificationRule::Parse("inet:10.0.0.0/8")};
  rack.limits.resident_count_max = 1;
  ASSERT_TRUE(stack_.Create(rack).ok());
  ASSERT_TRUE(MakeReplicationCapsules(stack_).ok());
  const auto capsule_of = [&](std::string_view service) {
    return stack_.Find(NetworkOperation{
        .address = 0x0a000001, .service = service, .partition = PartitionId(0), .node = "b"});
  };
  EXPECT_EQ(capsule_of(kReplicationService)->name(), "replication-calls");
  EXPECT_EQ(capsule_of(kSnapshotService)->name(), "replication-pulls");
  EXPECT_GT(capsule_of(kReplicationService)->config().limits.resident_count_max, 1'000u);
  EXPECT_EQ(capsule_of("registers")->name(), "rack");
}

TEST_F(ReplicaDeviceTest, ACapsuleOfTheSpecKeepsTheCallsThatItNames) {
  CapsuleConfig own;
  own.name = "own";
  own.rules = {*ClassificationRule::Parse("service:neptune.replication")};
  ASSERT_TRUE(stack_.Create(own).ok());
  ASSERT_TRUE(MakeReplicationCapsules(stack_).ok());
  const auto found =
      stack_.Find(NetworkOperation{.service = kReplicationService, .partition = PartitionId(0)});
  EXPECT_EQ(found->name(), "own");
}

TEST_F(ReplicaDeviceTest, TheLogIsStoredBesideAnyNumberOfReadsAndSnapshots) {
  ASSERT_TRUE(MakeReplicationCapsules(stack_).ok());
  Call(ReplicaLane::kRead, 1'000);
  Call(ReplicaLane::kSnapshot, 1'000);
  Call(ReplicaLane::kLog, 1);
  simulator_.RunFor(milliseconds(2));
  EXPECT_EQ(ended_[ReplicaLane::kLog], 1);
  EXPECT_LE(ended_[ReplicaLane::kRead], 8);
  EXPECT_LE(ended_[ReplicaLane::kSnapshot], 2);
  simulator_.RunFor(seconds(2));
  EXPECT_EQ(ended_[ReplicaLane::kRead], 1'000);
  EXPECT_EQ(ended_[ReplicaLane::kSnapshot], 1'000);
}

TEST_F(ReplicaDeviceTest, ARefusedCallIsMadeAgainAndItsErrorIsItsOwn) {
  GiveAllLanes("one", {.resident_count_max = 1});
  Call(ReplicaLane::kLog, 20);
  Status failure;
  Spawn([&] { failure = device_.Run(ReplicaLane::kLog, [] { return DataLoss("of the call"); }); });
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(ended_[ReplicaLane::kLog], 20);
  EXPECT_EQ(failure.code(), StatusCode::kDataLoss);
}

TEST_F(ReplicaDeviceTest, ACallThatTakesLongerThanTheTimeoutOfItsCapsuleRunsOnce) {
  GiveAllLanes("hasty", {.timeout = std::chrono::microseconds(100)});
  int run_count = 0;
  Status status = Unavailable("not ended");
  Spawn([&] {
    status = device_.Run(ReplicaLane::kLog, [&] {
      ++run_count;
      return OkStatus();
    });
  });
  simulator_.RunFor(seconds(1));
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(run_count, 1);
}

TEST_F(ReplicaDeviceTest, ACallThatWaitsForRoomEndsWhenTheReplicaStops) {
  GiveAllLanes("one", {.resident_count_max = 1});
  Call(ReplicaLane::kLog, 1);
  Status refused;
  Spawn([&] { refused = device_.Run(ReplicaLane::kLog, [] { return OkStatus(); }); });
  simulator_.RunFor(std::chrono::microseconds(500));
  stopping_ = true;
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(ended_[ReplicaLane::kLog], 1) << "the call inside ends as usual";
  EXPECT_EQ(refused.code(), StatusCode::kCancelled);
}

TEST_F(ReplicaDeviceTest, NoCallBeginsOnceTheReplicaStops) {
  stopping_ = true;
  Status status;
  Spawn([&] {
    status = device_.Run(ReplicaLane::kApply, [] {
      ADD_FAILURE();
      return OkStatus();
    });
  });
  simulator_.RunFor(seconds(1));
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
}

}  // namespace
}  // namespace neptune
