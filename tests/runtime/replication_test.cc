// Replicated services on whole nodes of a simulated cluster.

#include "neptune/replication/agent/replication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "neptune/base/strings.h"
#include "neptune/replication/agent/replica_links.h"
#include "neptune/world/sim/sim_world.h"
#include "tests/runtime/replicated_registers.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ReplicationTest = ReplicatedRegistersTest;

Status PullFrom(ClientSession& session, const std::string& node, const std::string& request,
                Data* response) {
  CallOptions options;
  options.only = NodeId(node);
  options.attempts_max = 1;
  return Call(
      session,
      {ServiceName(kSnapshotService), PartitionId(0), MethodName(kPullMethod), AccessMode::kWrite},
      Data(request), response, options);
}

std::string BeginPull(std::string_view service, uint32_t partition, std::string_view receiver) {
  SnapshotPull pull;
  pull.service = ServiceName(std::string(service));
  pull.partition = PartitionId(partition);
  pull.receiver = NodeId(std::string(receiver));
  return EncodeSnapshotPull(pull);
}

TEST_F(ReplicationTest, WritesReachAllReplicas) {
  Start(3, kOrdered);
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(Append(session, "k=x").ok());
    const auto value = Append(session, "k=y");
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(*value, std::string(20, 'x') + "y");
  });
  simulator().RunFor(seconds(1));
  for (const char* node : {"s0", "s1", "s2"}) {
    EXPECT_EQ(Agent(node)->state()->completed(), Agent("s0")->state()->completed()) << node;
    EXPECT_EQ(PrimaryBy(node), "s0");
  }
}

TEST_F(ReplicationTest, WhatTheDataForbidIsTheWritesAnswer) {
  Start(3, kOrdered);
  InSession([](ReplicaSession& session) {
    EXPECT_EQ(Append(session, "k=refuse").status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(Append(session, "k=x").value(), "x");
  });
}

TEST_F(ReplicationTest, AWriteThatIsSubmittedTwiceIsExecutedOnce) {
  Start(3, kOrdered);
  InSession([](ReplicaSession& session) {
    EXPECT_EQ(Append(session, "k=x", seconds(5), {7, 1}).value(), "x");
    EXPECT_EQ(Append(session, "k=x", seconds(5), {7, 1}).value(), "x");
    EXPECT_EQ(Append(session, "k=x", seconds(5), {7, 2}).value(), "xx");
  });
}

TEST_F(ReplicationTest, AWriteToASecondaryNamesThePrimary) {
  Start(3, kOrdered);
  cluster_->RunOnClient([](ClientSession& session) {
    Data response;
    CallReport report;
    const Status status =
        Call(session, {kRegisters, PartitionId(0), MethodName("Append"), AccessMode::kWrite},
             Data("k=x"), &response, {.only = NodeId("s2")}, &report);
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << status;
    const auto said = DecodeReplicaReport(report.extension);
    ASSERT_TRUE(said.ok());
    EXPECT_EQ(said->primary, NodeId("s0"));
    EXPECT_FALSE(said->was_served);
  });
}

TEST_F(ReplicationTest, ASessionReadsItsOwnWritesAndNothingOlder) {
  Start(3, kBounded);
  InSession([](ReplicaSession& session) {
    std::string expected;
    for (int i = 0; i < 50; ++i) {
      expected += "x";
      EXPECT_EQ(Append(session, "k=x").value(), expected);
      ReplicaReport report;
      EXPECT_EQ(Get(session, "k", &report).value(), expected);
      ASSERT_TRUE(report.staleness.has_value());
      EXPECT_LE(*report.staleness, milliseconds(500));
    }
  });
}

TEST_F(ReplicationTest, NothingAcknowledgedIsLostWhenAPrimaryLosesItsPower) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Start(3, kOrdered, seed);
    int acknowledged = 0;
    bool is_over = false;
    cluster_->SpawnOnClient([&](ClientSession& session) {
      ReplicaSession replicas(session);
      for (int i = 0; i < 400; ++i) {
        const auto value = Append(replicas, "k=x");
        EXPECT_TRUE(value.ok()) << value.status();
        if (value.ok()) acknowledged = static_cast<int>(value->size());
        this_thread::SleepFor(milliseconds(5));
      }
      is_over = true;
    });
    simulator().RunFor(milliseconds(500));
    simulator().Crash("s0");
    simulator().RunFor(seconds(1));
    simulator().Restart("s0");
    ASSERT_TRUE(simulator().RunUntilTrue([&] { return is_over; }, simulator().now() + seconds(60)));
    EXPECT_EQ(acknowledged, 400);
    simulator().RunFor(seconds(6));
    EXPECT_EQ(PrimaryBy("s1"), "s0") << "seed " << seed;
    InSession([&](ReplicaSession& session) {
      EXPECT_EQ(Append(session, "k=y").value(), std::string(400, 'x') + "y");
    });
    simulator().RunFor(seconds(1));
    for (const char* node : {"s1", "s2"}) {
      EXPECT_EQ(Agent(node)->state()->completed(), Agent("s0")->state()->completed()) << node;
    }
  }
}

TEST_F(ReplicationTest, AllReplicasMayLoseTheirPowerAtOnce) {
  Start(3, kOrdered);
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < 30; ++i) EXPECT_TRUE(Append(session, "k=x").ok());
  });
  for (const char* node : {"s0", "s1", "s2"}) simulator().Crash(node);
  simulator().RunFor(seconds(1));
  for (const char* node : {"s2", "s0", "s1"}) {
    simulator().Restart(node);
    simulator().RunFor(milliseconds(700));
  }
  simulator().RunFor(seconds(3));
  InSession([](ReplicaSession& session) {
    EXPECT_EQ(Append(session, "k=y").value(), std::string(30, 'x') + "y");
  });
}

TEST_F(ReplicationTest, AMemberWhoseDiskIsNewGetsAllDataBack) {
  Start(3, kOrdered);
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < 30; ++i) EXPECT_TRUE(Append(session, "k=x").ok());
  });
  simulator().Crash("s2");
  LoseDisk("s2");
  simulator().RunFor(seconds(1));
  simulator().Restart("s2");
  simulator().RunFor(seconds(4));
  EXPECT_EQ(Agent("s2")->state()->completed(), Agent("s0")->state()->completed());
  EXPECT_EQ(Agent("s2")->status().role, ReplicaRole::kSecondary);
}

void ExpectRefused(const Status& status, const std::string& why) {
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << status;
  EXPECT_NE(ToStd(status.message()).find(why), std::string::npos) << status;
}

TEST_F(ReplicationTest, DataOfAnOrderedLevelAreRefusedAtLevelOneAndTheOtherWayRound) {
  constexpr char kAnywhere[] = "level: 'write_anywhere'";
  const std::vector<std::string> servers = {"s0", "s1", "s2"};
  for (const bool was_ordered : {true, false}) {
    for (const int writes : {0, 3}) {
      Start(3, was_ordered ? kOrdered : kAnywhere);
      InSession([&](ReplicaSession& session) {
        for (int i = 0; i < writes; ++i) EXPECT_TRUE(Append(session, "k=x").ok());
      });
      ChangeSpec(servers, RegisterSpec(servers, was_ordered ? kAnywhere : kOrdered));
      ExpectRefused(cluster_->FailedStart("s1"),
                    was_ordered ? "of ordered writes, not to partition 0 of registers in cluster "
                                  "test on node s1, of level write_anywhere"
                                : "of level write_anywhere, not to partition 0");
      cluster_->ChangeSpec(RegisterSpec(servers, was_ordered ? kOrdered : kAnywhere));
      for (const std::string& server : servers) simulator().Restart(server);
      simulator().RunFor(seconds(4));
      InSession([&](ReplicaSession& session) {
        EXPECT_EQ(Append(session, "k=x").value(), std::string(writes + 1, 'x'));
      });
    }
  }
}

TEST_F(ReplicationTest, OrderedDataAreTheSameForBothOrderedLevels) {
  Start(3, kOrdered);
  InSession([](ReplicaSession& session) { EXPECT_TRUE(Append(session, "k=x").ok()); });
  const std::vector<std::string> servers = {"s0", "s1", "s2"};
  ChangeSpec(servers, RegisterSpec(servers, kBounded));
  for (const std::string& server : servers) simulator().Restart(server);
  simulator().RunFor(seconds(4));
  InSession([](ReplicaSession& session) { EXPECT_EQ(Append(session, "k=y").value(), "xy"); });
}

TEST_F(ReplicationTest, DataOfAnotherClusterAreRefused) {
  Start(3, kOrdered);
  const std::vector<std::string> servers = {"s0", "s1", "s2"};
  ChangeSpec(servers, RegisterSpec(servers, kOrdered, "other"));
  ExpectRefused(cluster_->FailedStart("s0"), "in cluster test on node s0, of ordered writes, not");
}

TEST_F(ReplicationTest, DataOfAnotherCountOfPartitionsAreRefused) {
  Start(3, kOrdered);
  const std::vector<std::string> servers = {"s0", "s1", "s2"};
  ClusterSpec divided = RegisterSpec(servers, kOrdered);
  divided.mutable_services(0)->set_partition_count(2);
  for (int i = 2; i < divided.nodes_size(); ++i) {  // after c and w
    divided.mutable_nodes(i)->mutable_hosts(0)->add_partitions(1);
  }
  ChangeSpec(servers, divided);
  ExpectRefused(
      cluster_->FailedStart("s0"),
      "of registers are in 1 partitions, but the spec has 2: another count would put keys");
}

TEST_F(ReplicationTest, OrderedMembersThatAreAddedRemovedOrMovedAreRefused) {
  Start(3, kOrdered);
  const std::vector<std::string> servers = {"s0", "s1", "s2"};
  for (const std::vector<std::string>& changed : std::initializer_list<std::vector<std::string>>{
           {"a", "s0", "s1", "s2"}, {"s0", "s1"}, {"s1", "s0", "s2"}}) {
    Start(3, kOrdered);
    for (const std::string& server : servers) simulator().Crash(server);
    cluster_->ChangeSpec(RegisterSpec(changed, kOrdered));
    ExpectRefused(cluster_->FailedStart("s0"), "its members were s0 s1 s2, but the spec has");
  }
}

TEST_F(ReplicationTest, ANodeThatTakesALostNodesPlaceGetsAllData) {
  Start(3, kOrdered);
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < 30; ++i) EXPECT_TRUE(Append(session, "k=x").ok());
  });
  ChangeSpec({"s0", "s1", "s2"}, RegisterSpec({"s0", "n", "s2"}, kOrdered));
  for (const char* server : {"s0", "s2"}) simulator().Restart(server);
  simulator().RunFor(seconds(5));
  EXPECT_EQ(Agent("n")->state()->completed(), Agent("s0")->state()->completed());
  InSession([](ReplicaSession& session) {
    EXPECT_EQ(Append(session, "k=y").value(), std::string(30, 'x') + "y");
  });
}

TEST_F(ReplicationTest, WhatIsAskedOfAnUnknownPartitionIsRefused) {
  Start(3, kOrdered);
  cluster_->RunOnClient([](ClientSession& session) {
    for (const auto& [request, code] :
         {std::pair(BeginPull("registers", 7, "c"), StatusCode::kNotFound),
          std::pair(BeginPull("others", 0, "c"), StatusCode::kNotFound),
          std::pair(BeginPull("registers", 0, "c") + "x", StatusCode::kInvalidArgument),
          std::pair(std::string(), StatusCode::kInvalidArgument)}) {
      Data response;
      EXPECT_EQ(PullFrom(session, "s0", request, &response).code(), code);
    }
  });
}

TEST_F(ReplicationTest, AReceiverThatVanishesHoldsASnapshotsPlaceForAMinute) {
  Start(kSnapshotCountMax + 2, kOrdered);
  const std::string last = StrCat("s", kSnapshotCountMax + 1);
  InSession([](ReplicaSession& session) { EXPECT_TRUE(Append(session, "k=x").ok()); });
  cluster_->RunOnClient([&](ClientSession& session) {
    Data response;
    for (int i = 0; i < kSnapshotCountMax; ++i) {
      EXPECT_TRUE(
          PullFrom(session, "s0", BeginPull("registers", 0, StrCat("s", i + 1)), &response).ok());
    }
    EXPECT_EQ(PullFrom(session, "s0", BeginPull("registers", 0, last), &response).code(),
              StatusCode::kResourceExhausted);
    // One that begins again takes its own place.
    EXPECT_TRUE(PullFrom(session, "s0", BeginPull("registers", 0, "s1"), &response).ok());
  });
  EXPECT_EQ(Agent("s0")->status().snapshots_sending, kSnapshotCountMax);
  simulator().RunFor(kSnapshotIdleMax + seconds(2));
  EXPECT_EQ(Agent("s0")->status().snapshots_sending, 0);
  cluster_->RunOnClient([&](ClientSession& session) {
    Data response;
    EXPECT_TRUE(PullFrom(session, "s0", BeginPull("registers", 0, last), &response).ok());
  });
  EXPECT_EQ(Agent("s0")->status().snapshots_sent, 0u);
}

// s0 and s1 have it, which are not a majority: a reader of s1 must not see what others then decide
// without them.
TEST_F(ReplicationTest, AWriteThatIsLostLaterIsReadFromNoReplica) {
  for (const char* level : {kOrdered, kBounded}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      Start(5, level, seed);
      InSession([](ReplicaSession& session) { EXPECT_TRUE(Append(session, "k=a").ok()); });
      simulator().RunFor(seconds(1));
      const auto cut = simulator().Partition({"s0", "s1"}, {"s2", "s3", "s4"});
      StatusOr<WriteOutcome> lost = Internal("not over");
      cluster_->node("s0").RunOnControl([&] {
        LogEntry entry;
        entry.method = MethodName("Append");
        entry.payload = "k=lost";
        Lsn version = 0;
        lost = Agent("s0")->Write(entry, this_thread::Now() + seconds(20), &version);
      });
      bool was_received = false;
      const auto read = [&](const char* node) {
        std::string value;
        cluster_->RunOnClient([&](ClientSession& session) {
          Data response;
          const Status status =
              Call(session, {kRegisters, PartitionId(0), MethodName("Get"), AccessMode::kRead},
                   Data("k"), &response, {.only = NodeId(node)});
          value = status.ok() ? response.bytes() : "refused";
        });
        return value;
      };
      for (int i = 0; i < 60; ++i) {
        const auto standing = Agent("s1")->status();
        was_received = was_received || standing.last_lsn > standing.committed;
        for (const char* node : {"s0", "s1"}) {
          EXPECT_THAT(read(node), testing::AnyOf("a", "refused")) << node << " seed " << seed;
        }
      }
      EXPECT_TRUE(was_received);
      simulator().RunFor(seconds(2));
      cluster_->RunOnClient([&](ClientSession& session) {
        Data response;
        EXPECT_TRUE(Call(session,
                         {kRegisters, PartitionId(0), MethodName("Append"), AccessMode::kWrite},
                         Data("k=b"), &response, {.only = NodeId("s2")})
                        .ok());
      });
      simulator().Heal(cut);
      simulator().RunFor(seconds(8));
      EXPECT_FALSE(lost.ok());
      for (const char* node : {"s0", "s1", "s2", "s3", "s4"}) EXPECT_EQ(read(node), "ab") << node;
    }
  }
}

TEST_F(ReplicationTest, MetricsSayWhatEachReplicaIsAndHowFarItIs) {
  // With this many writes a log drops the first ones, so that a new disk cannot be filled from it.
  constexpr int kWriteCount = 2600;
  Start(2, "level: 'ordered_writes' witness: 'w' log_entries_kept: 500");
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < kWriteCount; ++i) EXPECT_TRUE(Append(session, StrCat(i, "=x")).ok());
  });
  simulator().RunFor(seconds(1));
  const auto of = [this](const std::string& node, const char* name, MetricLabels labels = {}) {
    labels.insert(labels.end(), {{"service", "registers"}, {"partition", "0"}});
    return cluster_->node(node).metrics().Value(name, labels).value_or(-1);
  };
  for (const auto& [node, role] :
       {std::pair("s0", "primary"), std::pair("s1", "secondary"), std::pair("w", "witness")}) {
    for (const char* other : {"primary", "secondary", "witness", "recovering"}) {
      EXPECT_EQ(of(node, "neptune_replica_role", {{"role", other}}), other == role) << node;
    }
    const ReplicaAgent::State state = Agent(node)->status();
    EXPECT_EQ(of(node, "neptune_replica_epoch"), state.epoch);
    EXPECT_EQ(of(node, "neptune_replica_committed_lsn"), state.committed);
    EXPECT_EQ(of(node, "neptune_replica_received_lsn"), state.last_lsn);
    // A witness that was never needed has received nothing.
    EXPECT_EQ(of(node, "neptune_replica_log_size_bytes") > 0, state.last_lsn > 0) << node;
    EXPECT_EQ(of(node, "neptune_replica_lag_entries"), 0);
    EXPECT_EQ(of(node, "neptune_replica_failed"), 0);
  }
  // The witness, which is not needed, is not fed.
  for (const char* node : {"s0", "s1"}) {
    EXPECT_GE(of(node, "neptune_replica_executed_lsn"), kWriteCount) << node;
  }
  EXPECT_EQ(of("s0", "neptune_replica_lag_seconds"), 0);
  EXPECT_LT(of("s1", "neptune_replica_lag_seconds"), 0.2);
  EXPECT_GE(of("s0", "neptune_replica_write_set_size"), 2);
  simulator().Partition({"s1"}, {"s0", "w", "c"});
  simulator().RunFor(seconds(5));
  EXPECT_GT(of("s1", "neptune_replica_lag_seconds"), 4);
  simulator().HealAll();
  simulator().Crash("s1");
  LoseDisk("s1");
  simulator().Restart("s1");
  InSession([](ReplicaSession& session) { EXPECT_TRUE(Append(session, "k=y").ok()); });
  simulator().RunFor(seconds(5));
  EXPECT_EQ(of("s1", "neptune_replica_snapshots_taken_total"), 1);
  EXPECT_EQ(of("s0", "neptune_replica_snapshots_sent_total"), 1);
  EXPECT_EQ(of("s1", "neptune_replica_executed_lsn"), of("s0", "neptune_replica_executed_lsn"));
}

TEST_F(ReplicationTest, MessagesOfAnUnknownPartitionOrNodeAreDropped) {
  Start(3, kOrdered);
  cluster_->RunOnClient([](ClientSession& session) {
    const std::string message = EncodeReplicaMessage({});
    for (const AddressedMessage& addressed :
         {AddressedMessage{kRegisters, PartitionId(7), NodeId("s0"), message},
          AddressedMessage{ServiceName("others"), PartitionId(0), NodeId("s0"), message},
          AddressedMessage{kRegisters, PartitionId(0), NodeId("stranger"), message}}) {
      Data response;
      CallOptions options;
      options.only = NodeId("s1");
      const Status status = Call(session,
                                 {ServiceName(kReplicationService), PartitionId(0),
                                  MethodName(kExchangeMethod), AccessMode::kWrite},
                                 Data(EncodeAddressedMessages({addressed})), &response, options);
      EXPECT_TRUE(status.ok()) << status;
    }
  });
  simulator().RunFor(seconds(1));
  EXPECT_EQ(Agent("s1")->status().role, ReplicaRole::kSecondary);
  EXPECT_TRUE(Agent("s1")->status().failure.ok());
}

TEST_F(ReplicationTest, APartitionIsStartedByHandWhereMostDisksAreLost) {
  for (const std::string mode : {"safe", "fail_stop"}) {
    Start(3, StrCat(kOrdered, " mode: '", mode, "'"));
    InSession([](ReplicaSession& session) {
      for (int i = 0; i < 30; ++i) EXPECT_TRUE(Append(session, "k=x").ok());
    });
    for (const char* node : {"s0", "s1", "s2"}) simulator().Crash(node);
    for (const char* node : {"s0", "s2"}) LoseDisk(node);
    for (const char* node : {"s0", "s1", "s2"}) simulator().Restart(node);
    simulator().RunFor(seconds(5));
    EXPECT_EQ(StartByHand("s1", "registers", "0").status, 200) << mode;
    simulator().RunFor(seconds(2));
    InSession([&](ReplicaSession& session) {
      EXPECT_EQ(Append(session, "k=y").value(), std::string(30, 'x') + "y") << mode;
    });
    simulator().RunFor(seconds(4));
    for (const char* node : {"s0", "s2"}) {
      EXPECT_EQ(Agent(node)->state()->completed(), Agent("s1")->state()->completed()) << mode;
    }
  }
}

TEST_F(ReplicationTest, AStartByHandThatMakesNoSenseIsRefused) {
  Start(3, kOrdered);
  EXPECT_EQ(StartByHand("s1", "", "").status, 400);
  EXPECT_EQ(StartByHand("s1", "registers", "-1").status, 400);
  EXPECT_EQ(StartByHand("s1", "registers", "7").status, 404);
  EXPECT_EQ(StartByHand("s1", "others", "0").status, 404);
  const HttpResponse refused = StartByHand("s1", "registers", "0");
  EXPECT_EQ(refused.status, 409);
  EXPECT_NE(refused.body.find("heard from a primary"), std::string::npos) << refused.body;
}

TEST_F(ReplicationTest, ANewPrimaryReadsAsCurrentOnlyOnceItHasExecutedWhatOthersAcknowledged) {
  Start(3, kBounded, 1, [](const std::string& node) {
    return node == "s0" ? Duration(0) : Duration(milliseconds(15));
  });
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(Append(session, "k=x").ok());
  });
  const Lsn acknowledged = Agent("s0")->status().committed;
  simulator().Crash("s0");
  int current_count = 0;
  for (int ms = 0; ms < 2000; ++ms) {
    simulator().RunFor(milliseconds(1));
    const TimePoint now = simulator().now();
    const auto read = Agent("s1")->BeginRead({}, now);
    if (!read.ok() || read->current_as_of < now) continue;
    ++current_count;
    EXPECT_GE(Agent("s1")->status().executed, acknowledged) << ms << " ms after the crash";
  }
  EXPECT_GT(current_count, 100);
}

TEST_F(ReplicationTest, TwoReplicasAndAWitnessGoOnWithoutEither) {
  Start(2, StrCat(kOrdered, " witness: 'w'"));
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(Append(session, "k=x").ok());
  });
  simulator().Crash("s0");
  InSession([](ReplicaSession& session) {
    const TimePoint begin = this_thread::Now();
    EXPECT_EQ(Append(session, "k=y").value(), std::string(10, 'x') + "y");
    EXPECT_LT(this_thread::Now() - begin, milliseconds(1500));
  });
}

TEST_F(ReplicationTest, ThePapersModeOutlivesPrimariesThatStop) {
  Start(3, StrCat(kOrdered, " mode: 'fail_stop'"));
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(Append(session, "k=x").ok());
  });
  simulator().Crash("s0");
  InSession([](ReplicaSession& session) {
    EXPECT_EQ(Append(session, "k=y").value(), std::string(10, 'x') + "y");
  });
  simulator().Restart("s0");
  simulator().RunFor(seconds(5));
  EXPECT_EQ(PrimaryBy("s1"), "s0");
  EXPECT_EQ(Agent("s0")->state()->completed(), Agent("s1")->state()->completed());
}

TEST(ReplicationSpecTest, WhatMakesNoSenseIsRefused) {
  const auto refusal = [](const std::string& fields) {
    const std::string text = StrCat("name: 'test' multicast_group: '239.192.7.1:7400' ",
                                    "services { name: 'a' module: 'm' replication { ", fields,
                                    " } } ", "nodes { name: 'n' hosts { service: 'a' } }");
    return std::string(ParseClusterSpec(text, "spec").status().message());
  };
  EXPECT_NE(refusal("").find("level ''"), std::string::npos);
  EXPECT_NE(refusal("level: 'strong'").find("'strong'"), std::string::npos);
  EXPECT_NE(refusal("level: 'ordered_writes' staleness_ms: 5").find("staleness_ms"),
            std::string::npos);
  EXPECT_NE(refusal("level: 'ordered_writes' witness: 'x'").find("'x'"), std::string::npos);
  EXPECT_NE(refusal("level: 'ordered_writes' mode: 'fast'").find("'fast'"), std::string::npos);
  EXPECT_NE(refusal("level: 'write_anywhere' witness: 'n'").find("a witness votes"),
            std::string::npos);
  EXPECT_NE(refusal("level: 'write_anywhere' mode: 'safe'").find("mode selects"),
            std::string::npos);
  EXPECT_NE(refusal("level: 'ordered_writes' log_size_max_mib: 1025").find("at most 1024"),
            std::string::npos);
  EXPECT_NE(refusal("level: 'write_anywhere' staleness_ms: 5").find("staleness_ms"),
            std::string::npos);
  EXPECT_NE(refusal("level: 'ordered_writes' scrub_hours: 1 scrub_seconds: 5").find("scrub"),
            std::string::npos);
  EXPECT_NE(refusal("level: 'ordered_writes' scrub_seconds: 0").find("scrub"), std::string::npos);
  EXPECT_EQ(refusal("level: 'ordered_writes' scrub_seconds: 5"), "");
  EXPECT_EQ(refusal("level: 'staleness_bounded' staleness_ms: 5"), "");
  EXPECT_EQ(refusal("level: 'write_anywhere'"), "");
}

}  // namespace
}  // namespace neptune
