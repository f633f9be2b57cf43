// Replicas that come back by themselves: full disks, openings that fail, damaged data.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/replication/agent/data_scrubber.h"
#include "neptune/replication/state/store_state.h"
#include "neptune/world/sim/sim_world.h"
#include "tests/runtime/replicated_registers.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kData[] = "data-registers-0";
// Logs that soon begin after the data.
constexpr char kShortLog[] = "level: 'ordered_writes' log_entries_kept: 1 log_size_max_mib: 1";

class ReplicationHealingTest : public ReplicatedRegistersTest {
 protected:
  SimStorage& Disk(const std::string& node) { return simulator().host(node).sim_storage(); }
  ReplicaKeeper::Health Health(const std::string& node) { return Keeper(node).health(); }

  void AwaitHealth(const std::string& node, Duration limit = minutes(2)) {
    EXPECT_TRUE(
        simulator().RunUntilTrue([&] { return cluster_->lives(node) && Health(node).failure.ok(); },
                                 simulator().now() + limit))
        << node << ": " << Health(node).failure;
  }
  // What the node itself has stored.
  std::string Stored(const std::string& node, const std::string& key) {
    const std::shared_ptr<ReplicaAgent> agent = Agent(node);
    if (agent == nullptr || agent->state() == nullptr) return "not open";
    const auto value = static_cast<const StoreState*>(agent->state())->view().Get(key);
    return value.ok() ? value->value_or("none") : std::string(ToStd(value.status().ToString()));
  }
  // Writes until the logs of all nodes begin after the first write.
  void FillLogs() {
    InSession([](ReplicaSession& session) {
      const std::string text(40'000, 'x');
      for (int i = 0; i < 60; ++i) EXPECT_TRUE(Append(session, StrCat("f", i, "=", text)).ok());
    });
    simulator().RunFor(seconds(1));
  }
  // Three nodes that each have this many partitions.
  void StartPartitions(uint32_t count) {
    SimulatedClusterOptions options;
    options.spec = RegisterSpec({"s0", "s1", "s2"}, kOrdered);
    options.spec.mutable_services(0)->set_partition_count(count);
    for (NodeSpec& node : *options.spec.mutable_nodes()) {
      for (HostedServiceSpec& hosted : *node.mutable_hosts()) {
        if (hosted.service() != kRegisters.value()) continue;
        hosted.clear_partitions();
        for (uint32_t i = 0; i < count; ++i) hosted.add_partitions(i);
      }
    }
    options.modules = MakeModules;
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
    simulator().RunFor(seconds(2));
  }
  // Appends ten letters to register "k" of each partition; all must be acknowledged.
  void AppendToAll(uint32_t count, char letter, std::string* expected) {
    InSession([&](ReplicaSession& session) {
      for (int n = 0; n < 10; ++n) {
        *expected += letter;
        for (uint32_t i = 0; i < count; ++i) {
          Data response;
          const CalledMethod append = {kRegisters, PartitionId(i), MethodName("Append"),
                                       AccessMode::kWrite};
          const Status status =
              session.Call(append, Data(StrCat("k=", std::string(1, letter))), &response,
                           {.deadline = this_thread::Now() + seconds(9)});
          EXPECT_TRUE(status.ok()) << status;
          EXPECT_EQ(response.bytes(), *expected) << i;
        }
      }
    });
  }
  void ExpectEqual(const std::vector<std::string>& keys) {
    simulator().RunFor(seconds(5));
    for (const std::string& key : keys) {
      for (const char* node : {"s1", "s2"}) {
        EXPECT_EQ(Stored(node, key), Stored("s0", key)) << node << " " << key;
      }
    }
  }
};

TEST_F(ReplicationHealingTest, FullDiskThatIsFreeAgainNeedsNoRestart) {
  Start(3, kOrdered);
  const Node* const node = &cluster_->node("s0");
  std::string expected;
  const auto append = [&](char text) {
    InSession([&](ReplicaSession& session) {
      for (int i = 0; i < 50; ++i) {
        expected += text;
        EXPECT_EQ(Append(session, StrCat("k=", std::string(1, text))).value_or("lost"), expected);
      }
    });
  };
  append('a');
  Disk("s0").FailWrites(ResourceExhausted("no space left on the device"));
  append('b');
  EXPECT_FALSE(Health("s0").failure.ok());
  EXPECT_NE(PrimaryBy("s1"), "s0");
  simulator().RunFor(seconds(10));
  EXPECT_FALSE(Health("s0").failure.ok());
  EXPECT_GT(Health("s0").failure_count, 3);
  EXPECT_EQ(Health("s0").reopen_count, 0u) << "opened although its disk takes no writes";
  Disk("s0").FailWrites(OkStatus());
  AwaitHealth("s0", kReopenDelayMax);
  append('c');
  ExpectEqual({"k"});
  EXPECT_EQ(Stored("s0", "k"), expected);
  EXPECT_EQ(Health("s0").reopen_count, 1u);
  EXPECT_EQ(&cluster_->node("s0"), node);
  simulator().RunFor(seconds(5));
  EXPECT_EQ(PrimaryBy("s1"), "s0");
}

// The partitions of a node share its log.
TEST_F(ReplicationHealingTest, FaultyDiskThatIsSoundAgainBringsAllPartitionsBack) {
  constexpr uint32_t kPartitions = 3;
  const auto full = [this](const Status& fault) { Disk("s0").FailWrites(fault); };
  const auto unsynced = [this](const Status& fault) { Disk("s0").log_files().FailSyncs(fault); };
  for (const std::function<void(const Status&)>& fail :
       {std::function(full), std::function(unsynced)}) {
    StartPartitions(kPartitions);
    const Node* const node = &cluster_->node("s0");
    std::string expected;
    AppendToAll(kPartitions, 'a', &expected);
    fail(Unavailable("input/output error"));
    AppendToAll(kPartitions, 'b', &expected);
    simulator().RunFor(seconds(20));
    EXPECT_EQ(cluster_->node("s0").replication().Failures().size(), kPartitions);
    fail(OkStatus());
    EXPECT_TRUE(simulator().RunUntilTrue(
        [&] { return cluster_->node("s0").replication().Failures().empty(); },
        simulator().now() + kReopenDelayMax));
    AppendToAll(kPartitions, 'c', &expected);
    simulator().RunFor(seconds(5));
    for (uint32_t i = 0; i < kPartitions; ++i) {
      const auto* const keeper =
          cluster_->node("s0").replication().FindKeeper(kRegisters, PartitionId(i));
      EXPECT_EQ(keeper->health().reopen_count, 1u) << i;
      EXPECT_TRUE(keeper->status().damage.ok()) << keeper->status().damage;
      const auto* const state = static_cast<const StoreState*>(keeper->agent()->state());
      EXPECT_EQ(state->view().Get("k")->value_or("none"), expected) << i;
      // Other nodes are preferred as primaries of the other partitions.
      const ReplicaRole role = i == 0 ? ReplicaRole::kPrimary : ReplicaRole::kSecondary;
      EXPECT_EQ(keeper->status().role, role) << i;
    }
    EXPECT_EQ(&cluster_->node("s0"), node) << "no restart";
  }
}

TEST_F(ReplicationHealingTest, FailedReplicaIsNotAnnouncedAndNamedByReadiness) {
  Start(3, kOrdered);
  const auto announced = [this] {
    return cluster_->client().View()->Replicas(kRegisters, PartitionId(0)).size();
  };
  EXPECT_EQ(announced(), 3u);
  EXPECT_THAT(cluster_->node("s0").replication().Failures(), ElementsAre());
  Disk("s0").FailWrites(ResourceExhausted("no space left on the device"));
  InSession([](ReplicaSession& session) { EXPECT_TRUE(Append(session, "k=x").ok()); });
  simulator().RunFor(seconds(3));
  EXPECT_EQ(announced(), 2u);
  EXPECT_THAT(cluster_->node("s0").replication().Failures(),
              ElementsAre(HasSubstr("replica of registers/0: ")));
  EXPECT_THAT(cluster_->node("s0").replication().Failures()[0], HasSubstr("no space left"));
  Disk("s0").FailWrites(OkStatus());
  AwaitHealth("s0");
  simulator().RunFor(seconds(3));
  EXPECT_EQ(announced(), 3u);
  EXPECT_THAT(cluster_->node("s0").replication().Failures(), ElementsAre());
}

TEST_F(ReplicationHealingTest, ReplicaThatCannotBeOpenedKeepsNoNodeFromStarting) {
  Start(3, kOrdered);
  InSession([](ReplicaSession& session) { EXPECT_EQ(Append(session, "k=x").value(), "x"); });
  simulator().Crash("s0");
  Disk("s0").FailOpens(Unavailable("too many open files"));
  simulator().Restart("s0");
  simulator().RunFor(seconds(3));
  ASSERT_TRUE(cluster_->lives("s0"));
  EXPECT_THAT(ToStd(Health("s0").failure.ToString()), HasSubstr("too many open files"));
  InSession([](ReplicaSession& session) { EXPECT_EQ(Append(session, "k=y").value(), "xy"); });
  Disk("s0").FailOpens(OkStatus());
  AwaitHealth("s0");
  ExpectEqual({"k"});
}

TEST_F(ReplicationHealingTest, EveryOpeningThatFailsIsRetried) {
  Start(3, kOrdered);
  Disk("s0").FailWrites(ResourceExhausted("no space left on the device"));
  Disk("s0").FailOpens(Unavailable("too many open files"));
  InSession([](ReplicaSession& session) { EXPECT_EQ(Append(session, "k=x").value(), "x"); });
  simulator().RunFor(seconds(5));
  Disk("s0").FailWrites(OkStatus());
  simulator().RunFor(seconds(5));
  EXPECT_FALSE(Health("s0").failure.ok());
  Disk("s0").FailOpens(OkStatus());
  AwaitHealth("s0");
  ExpectEqual({"k"});
}

TEST_F(ReplicationHealingTest, NodeStopsWhileItsReplicaIsBeingOpened) {
  Start(3, kOrdered);
  Disk("s0").FailWrites(ResourceExhausted("no space left on the device"));
  InSession([](ReplicaSession& session) { EXPECT_TRUE(Append(session, "k=x").ok()); });
  simulator().RunFor(seconds(9));
  bool is_stopped = false;
  cluster_->node("s0").Stop(seconds(1), [&] { is_stopped = true; });
  EXPECT_TRUE(simulator().RunUntilTrue([&] { return is_stopped; }, simulator().now() + seconds(5)));
}

// The log has every write: no other member is needed.
TEST_F(ReplicationHealingTest, DamagedDataOfThePrimaryAreExecutedAgain) {
  Start(3, kOrdered);
  InSession([&](ReplicaSession& session) {
    EXPECT_EQ(Append(session, "k=x").value(), "x");
    this_thread::SleepFor(milliseconds(200));  // until all replicas have executed it
    ASSERT_TRUE(Disk("s0").DamageValue(kData, "uk").ok());
    for (int i = 0; i < 20; ++i) EXPECT_EQ(Get(session, "k").value_or("lost"), "x");
    EXPECT_EQ(Append(session, "k=y").value_or("lost"), "xy");
  });
  AwaitHealth("s0");
  EXPECT_EQ(Health("s0").damage_count, 1u);
  ExpectEqual({"k"});
  EXPECT_EQ(Stored("s0", "k"), "xy");
}

TEST_F(ReplicationHealingTest, DamagedDataOfThePrimaryAreReplacedByAnotherMembers) {
  Start(3, kShortLog);
  FillLogs();
  InSession([&](ReplicaSession& session) {
    ASSERT_TRUE(Disk("s0").DamageValue(kData, "uf7").ok());
    for (int i = 0; i < 20; ++i) EXPECT_EQ(Get(session, "f7").value_or("lost").size(), 40'000u);
    EXPECT_EQ(Append(session, "k=y").value_or("lost"), "y");
  });
  AwaitHealth("s0");
  EXPECT_EQ(Health("s0").damage_count, 1u);
  ExpectEqual({"k", "f7", "f0"});
  simulator().RunFor(seconds(5));
  EXPECT_EQ(PrimaryBy("s1"), "s0");
  EXPECT_EQ(Agent("s1")->status().snapshots_sent + Agent("s2")->status().snapshots_sent, 1u);
}

TEST_F(ReplicationHealingTest, WriteThatMeetsDamageIsNotLost) {
  Start(3, kShortLog);
  FillLogs();
  for (const char* node : {"s0", "s1"}) ASSERT_TRUE(Disk(node).DamageValue(kData, "uf7").ok());
  InSession(
      [&](ReplicaSession& session) { EXPECT_TRUE(Append(session, "f7=y", seconds(20)).ok()); });
  AwaitHealth("s0");
  AwaitHealth("s1");
  ExpectEqual({"f7"});
  EXPECT_EQ(Stored("s0", "f7").size(), 40'001u);
}

// Its log still counts: with one more member it is a majority.
TEST_F(ReplicationHealingTest, MemberWithoutDataStillStoresWrites) {
  Start(3, kShortLog);
  FillLogs();
  simulator().Crash("s0");
  ASSERT_TRUE(Disk("s0").DamageStore(kData).ok());
  simulator().Crash("s2");
  Disk("s1").FailReads(Unavailable("input/output error"));  // no snapshot for s0
  simulator().Restart("s0");
  simulator().RunFor(seconds(3));
  EXPECT_THAT(ToStd(Health("s0").failure.ToString()), HasSubstr("the data are being repaired"));
  EXPECT_EQ(PrimaryBy("s0"), "s1");
  const Lsn before = Agent("s1")->status().committed;
  const Epoch epoch = Agent("s1")->status().epoch;
  simulator().RunFor(seconds(20));
  EXPECT_EQ(Agent("s1")->status().epoch, epoch) << "the place was offered to one without data";
  EXPECT_GE(Agent("s0")->status().last_lsn, before);
  Disk("s1").FailReads(OkStatus());
  InSession([](ReplicaSession& session) { EXPECT_EQ(Append(session, "k=y").value(), "y"); });
  AwaitHealth("s0");
  simulator().Restart("s2");
  simulator().RunFor(seconds(3));
  ExpectEqual({"k", "f7"});
}

TEST_F(ReplicationHealingTest, StoreThatIsDamagedAtTheStartIsReplaced) {
  Start(3, kShortLog);
  FillLogs();
  simulator().Crash("s1");
  ASSERT_TRUE(Disk("s1").DamageStore(kData).ok());
  simulator().Restart("s1");
  simulator().RunFor(seconds(2));
  ASSERT_TRUE(cluster_->lives("s1"));
  AwaitHealth("s1");
  ExpectEqual({"f0", "f59"});
}

TEST_F(ReplicationHealingTest, DamagedDataThatNoOtherMemberHasAreKept) {
  Start(1, kShortLog);
  FillLogs();
  ASSERT_TRUE(Disk("s0").DamageValue(kData, "uf7").ok());
  InSession([](ReplicaSession& session) {
    EXPECT_FALSE(Get(session, "f7").ok());
    this_thread::SleepFor(seconds(40));
    EXPECT_FALSE(Get(session, "f6").ok());
  });
  EXPECT_EQ(Health("s0").failure.code(), StatusCode::kDataLoss);
  EXPECT_TRUE(cluster_->lives("s0"));
  // Another restart loses nothing either.
  simulator().Crash("s0", CrashKind::kProcess);
  simulator().Restart("s0");
  simulator().RunFor(seconds(3));
  InSession([](ReplicaSession& session) {
    EXPECT_EQ(Get(session, "f6").value_or("lost").size(), 40'000u);
    EXPECT_FALSE(Get(session, "f7").ok());
  });
}

TEST_F(ReplicationHealingTest, DamageThatNobodyReadsIsFoundByTheScrub) {
  Start(3, kShortLog);
  FillLogs();
  ASSERT_TRUE(Disk("s2").DamageValue(kData, "uf7").ok());
  EXPECT_TRUE(simulator().RunUntilTrue([&] { return Health("s2").damage_count > 0; },
                                       simulator().now() + kScrubFirstMax + minutes(1)));
  AwaitHealth("s2");
  ExpectEqual({"f7"});
}

TEST_F(ReplicationHealingTest, ScrubReadsEverythingOnce) {
  Start(3, kOrdered);
  FillLogs();
  simulator().RunFor(kScrubFirstMax + minutes(1));
  const ScrubProgress progress = Health("s0").scrub;
  EXPECT_EQ(progress.pass_count, 1u);
  EXPECT_GT(progress.checked_size, 60u * 40'000);
}

TEST_F(ReplicationHealingTest, ReadsThatFailAreAnsweredByOthers) {
  Start(3, kOrdered);
  InSession([&](ReplicaSession& session) {
    EXPECT_EQ(Append(session, "k=x").value(), "x");
    this_thread::SleepFor(milliseconds(100));
    Disk("s1").FailReads(Unavailable("input/output error"));
    for (int i = 0; i < 30; ++i) EXPECT_EQ(Get(session, "k").value_or("lost"), "x");
  });
}

}  // namespace
}  // namespace neptune
