// Logs and data of replicas on their devices: slow, full, and used by many.

#include <gtest/gtest.h>

#include <algorithm>

#include "neptune/base/strings.h"
#include "neptune/capsule/capsule.h"
#include "neptune/replication/agent/replica_device.h"
#include "tests/runtime/replicated_registers.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ReplicationDeviceTest = ReplicatedRegistersTest;

TEST_F(ReplicationDeviceTest, LogAndDataAreUsedInTheDeviceCapsulesAlone) {
  Start(3, kOrdered);
  // On all nodes: any may be asked.
  const auto calls = [this] {
    uint64_t count = 0;
    for (const char* node : {"s0", "s1", "s2"}) {
      for (const ReplicaLane lane : kReplicaLanes) {
        const std::string path = StrCat(kReplicationDevice, "/any/0/", NameOf(lane));
        const auto capsule = cluster_->node(node).capsules().Find(DeviceOperation{path});
        if (capsule != nullptr) count += capsule->Count().control.done;
      }
    }
    return count;
  };
  InSession([&](ReplicaSession& session) {
    const uint64_t before = calls();
    ASSERT_TRUE(Append(session, "k=x").ok());
    const uint64_t written = calls();
    EXPECT_GE(written, before + 3);  // stored, read from the log, executed
    ASSERT_TRUE(Get(session, "k").ok());
    EXPECT_GT(calls(), written);
  });
}

TEST_F(ReplicationDeviceTest, ADiskThatIsAHundredTimesSlowerHardlySlowsWritesDown) {
  const auto p99 = [this](int slowness) {
    Start(3, kOrdered, 1, [slowness](const std::string& node) {
      return std::chrono::microseconds(300) * (node == "s2" ? slowness : 1);
    });
    std::vector<Duration> times;
    InSession([&](ReplicaSession& session) {
      for (int i = 0; i < 5000; ++i) {
        const TimePoint begin = this_thread::Now();
        EXPECT_TRUE(Append(session, "k=").ok());
        times.push_back(this_thread::Now() - begin);
      }
    });
    EXPECT_EQ(Agent("s0")->status().write_set.contains(2), slowness == 1);
    std::sort(times.begin(), times.end());
    return times[times.size() * 99 / 100];
  };
  const Duration healthy = p99(1);
  EXPECT_LE(p99(100), healthy * 3 / 2) << "healthy: " << ToSeconds(healthy) << " s";
}

TEST_F(ReplicationDeviceTest, LogsOfLargeWritesKeepTheirBound) {
  constexpr size_t kBound = size_t{1} << 20;
  Start(3, StrCat(kOrdered, " log_size_max_mib: 1"));
  size_t largest = 0;
  InSession([&](ReplicaSession& session) {
    for (int i = 0; i < 200; ++i) {
      EXPECT_TRUE(Append(session, StrCat("k", i, "=", std::string(50'000, 'x'))).ok());
      for (const char* node : {"s0", "s1", "s2"}) {
        largest = std::max(largest, Agent(node)->status().log_size);
      }
    }
  });
  EXPECT_GE(largest, kBound / 2) << "the log keeps what members may need";
  EXPECT_LE(largest, kBound * 12 / 10);
}

TEST_F(ReplicationDeviceTest, AWriteThatIsRetriedOnASlowDiskHasOneEntry) {
  Start(3, kOrdered, 1, [](const std::string&) { return milliseconds(200); });
  simulator().RunFor(seconds(10));
  const Lsn before = Agent("s0")->status().last_lsn;
  InSession([&](ReplicaSession& session) {
    for (uint64_t i = 1; i <= 20; ++i) {
      StatusOr<std::string> answer = Unavailable("not asked");
      for (int attempt = 0; attempt < 40 && !answer.ok(); ++attempt) {
        answer = Append(session, "k=x", milliseconds(150), {7, i});
      }
      EXPECT_EQ(answer.value_or("none"), std::string(i, 'x'));
    }
  });
  EXPECT_LE(Agent("s0")->status().last_lsn - before, 21u);
}

// Reads share the device capsule with the log, which must not take a refusal for a failed disk.
TEST_F(ReplicationDeviceTest, ReadsBeyondTheDeviceCapsuleStopNoReplica) {
  Start(
      3, kOrdered, 1, [](const std::string&) { return std::chrono::microseconds(300); },
      "capsules { name: 'few' match: 'disk:/neptune/replication/**' resident_count_max: 2 "
      "processing_count_max: 1 }");
  const TimePoint end = simulator().now() + seconds(5);
  int refused_count = 0;
  for (int reader = 0; reader < 200; ++reader) {
    cluster_->SpawnOnClient([&](ClientSession& session) {
      ReplicaSession replicas(session);
      while (this_thread::Now() < end) {
        const StatusOr<std::string> value = Get(replicas, "k");
        if (!value.ok()) ++refused_count;
        if (!value.ok()) this_thread::SleepFor(milliseconds(1));
      }
    });
  }
  InSession([&](ReplicaSession& session) {
    while (this_thread::Now() < end) (void)Append(session, "k=x");
  });
  EXPECT_GT(refused_count, 0);
  for (const char* node : {"s0", "s1", "s2"}) {
    EXPECT_TRUE(Agent(node)->status().failure.ok()) << node << Agent(node)->status().failure;
  }
  InSession([](ReplicaSession& session) { EXPECT_TRUE(Append(session, "l=x").ok()); });
}

TEST_F(ReplicationDeviceTest, AFullDiskStopsAReplicaAndTheOthersGoOn) {
  Start(3, kOrdered);
  simulator().host("s0").sim_storage().FailWrites(ResourceExhausted("disk full"));
  InSession([](ReplicaSession& session) {
    EXPECT_EQ(Append(session, "k=x").value(), "x");
    EXPECT_EQ(Append(session, "k=y").value(), "xy");
  });
  EXPECT_FALSE(Keeper("s0").status().failure.ok());
  simulator().RunFor(seconds(2));
  EXPECT_NE(PrimaryBy("s1"), "s0");
}

}  // namespace
}  // namespace neptune
