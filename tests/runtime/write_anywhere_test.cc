// Replicated services at `write_anywhere` on whole nodes of a simulated cluster: every replica
// takes writes, which commute.

#include <gtest/gtest.h>

#include <algorithm>

#include "neptune/base/strings.h"
#include "neptune/node/register_module.h"
#include "neptune/replication/agent/replica_links.h"
#include "neptune/replication/agent/replication.h"
#include "neptune/replication/client/replica_session.h"
#include "neptune/replication/client/version_section.h"
#include "neptune/testing/simulated_cluster.h"
#include "neptune/world/sim/sim_world.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ServiceName kService("registers");
const std::vector<std::string> kServers = {"s0", "s1", "s2"};

StatusOr<std::unique_ptr<ServiceModule>> MakeModules(const std::string& module) {
  if (module == "registers") return std::make_unique<RegisterModule>();
  return MakeEcho(module);
}

ClusterSpec Spec(const std::vector<std::string>& servers = kServers) {
  std::string text =
      "name: 'test' multicast_group: '239.192.7.1:7400' services { name: 'registers' module: "
      "'registers' replication { level: 'write_anywhere' log_entries_kept: 500 log_size_max_mib: 1 "
      "} } services { name: 'idle' module: "
      "'echo' } nodes { name: 'c' hosts { service: 'idle' } } ";
  for (const std::string& server : servers) {
    StrAppend(&text, "nodes { name: '", server, "' hosts { service: 'registers' } } ");
  }
  const StatusOr<ClusterSpec> spec = ParseClusterSpec(text, "test");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return *spec;
}

class WriteAnywhereTest : public testing::Test {
 protected:
  WriteAnywhereTest() : cluster_({.seed = 1, .spec = Spec(), .modules = MakeModules}) {
    simulator().RunFor(seconds(2));
  }
  Simulator& simulator() { return cluster_.simulator(); }

  void InSession(const std::function<void(ReplicaSession&)>& body) {
    cluster_.RunOnClient([&](ClientSession& session) {
      ReplicaSession replicas(session);
      body(replicas);
    });
  }
  static StatusOr<std::string> Insert(ReplicaSession& session, const std::string& what,
                                      RequestId id = {}, ReplicaReport* report = nullptr) {
    Data response;
    const Status status = session.Call(
        {kService, PartitionId(0), MethodName("Insert"), AccessMode::kWrite}, Data(what), &response,
        {.deadline = this_thread::Now() + seconds(5), .id = id}, report);
    if (!status.ok()) return status;
    return response.bytes();
  }
  // Inserts at this replica and no other.
  static Status InsertAt(ClientSession& session, const std::string& server, const std::string& what,
                         RequestId id = {}) {
    Data response;
    CallOptions options;
    options.only = NodeId(server);
    options.extension = EncodeReplicaDemand({.id = id});
    return Call(session, {kService, PartitionId(0), MethodName("Insert"), AccessMode::kWrite},
                Data(what), &response, options);
  }
  void InsertAtAll(int count, const std::string& what,
                   const std::vector<std::string>& servers = kServers) {
    cluster_.RunOnClient([&](ClientSession& session) {
      for (int i = 0; i < count; ++i) {
        const std::string& server = servers[static_cast<size_t>(i) % servers.size()];
        const Status status = InsertAt(session, server, StrCat(what, i, ";"));
        EXPECT_TRUE(status.ok()) << server << ": " << status;
      }
    });
  }

  std::shared_ptr<ReplicaAgent> Agent(const std::string& server) {
    return cluster_.node(server).replication().Find(kService, PartitionId(0));
  }
  std::string Value(const std::string& server, const std::string& key) {
    const auto agent = Agent(server);
    const auto* const state = static_cast<const StoreState*>(agent->state());
    const auto value = state->view().Get(key);
    EXPECT_TRUE(value.ok()) << value.status();
    return value.ok() ? value->value_or("") : "";
  }
  int CountTexts(const std::string& server, const std::string& key = "k") {
    const std::string value = Value(server, key);
    return static_cast<int>(std::count(value.begin(), value.end(), ';'));
  }
  // All replicas hold this many texts, and the same.
  void ExpectAllHave(int count, const std::vector<std::string>& servers = kServers) {
    for (const std::string& server : servers) {
      EXPECT_EQ(CountTexts(server), count) << server;
      EXPECT_EQ(Value(server, "k"), Value(servers[0], "k")) << server;
      EXPECT_EQ(Agent(server)->status().role, ReplicaRole::kPeer) << server;
    }
  }
  void LoseDisk(const std::string& server) {
    simulator().Crash(server);
    const auto stores = simulator().host(server).storage().List();
    ASSERT_TRUE(stores.ok());
    for (const std::string& store : *stores) {
      EXPECT_TRUE(simulator().host(server).storage().Destroy(store).ok());
    }
    SimLogFiles& files = simulator().host(server).sim_storage().log_files();
    for (const std::string& name : files.Names()) EXPECT_TRUE(files.Remove(name).ok());
  }

  // All nodes stop; these ones are there from now on.
  void ChangeServers(const std::vector<std::string>& servers) {
    for (const std::string& server : kServers) simulator().Crash(server);
    cluster_.ChangeSpec(Spec(servers));
    for (const std::string& server : kServers) {
      if (std::count(servers.begin(), servers.end(), server) > 0) simulator().Restart(server);
    }
    simulator().RunFor(seconds(4));
  }

  SimulatedCluster cluster_;
};

TEST_F(WriteAnywhereTest, WritesAtAllReplicasReachAll) {
  InsertAtAll(60, "k=");
  simulator().RunFor(seconds(1));
  ExpectAllHave(60);
}

// While replicas cannot communicate, each has only the writes that it accepted itself.
TEST_F(WriteAnywhereTest, SessionsSpreadTheirWritesOverAllReplicas) {
  simulator().Partition({"s0"}, {"s1", "s2"});
  simulator().Partition({"s1"}, {"s2"});
  constexpr int kSessions = 10;
  constexpr int kWrites = 30;
  int ended = 0;
  for (int i = 0; i < kSessions; ++i) {
    cluster_.SpawnOnClient([&, i](ClientSession& session) {
      ReplicaSession replicas(session);
      for (int n = 0; n < kWrites; ++n) {
        EXPECT_TRUE(Insert(replicas, StrCat("k=", i, "-", n, ";")).ok());
      }
      ++ended;
    });
  }
  ASSERT_TRUE(simulator().RunUntilTrue([&] { return ended == kSessions; },
                                       simulator().now() + seconds(60)));
  int total = 0;
  for (const std::string& server : kServers) {
    const int taken = CountTexts(server);
    EXPECT_GE(taken, kSessions * kWrites / 5) << server << " of " << kServers.size();
    total += taken;
  }
  EXPECT_EQ(total, kSessions * kWrites);
  simulator().HealAll();
  simulator().RunFor(seconds(4));
  ExpectAllHave(total);
}

TEST_F(WriteAnywhereTest, WhatIsAcknowledgedIsThereWhenAllLoseTheirPowerAtOnce) {
  InsertAtAll(3, "k=");
  for (const std::string& server : kServers) simulator().Crash(server);
  simulator().RunFor(seconds(1));
  for (const std::string& server : kServers) simulator().Restart(server);
  simulator().RunFor(seconds(4));
  ExpectAllHave(3);
}

TEST_F(WriteAnywhereTest, ReplicaThatWasDownGetsWhatItMissed) {
  simulator().Crash("s2");
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < 40; ++i) EXPECT_TRUE(Insert(session, StrCat("k=", i, ";")).ok()) << i;
  });
  simulator().Restart("s2");
  simulator().RunFor(seconds(4));
  ExpectAllHave(40);
}

TEST_F(WriteAnywhereTest, ReplicaThatIsCutOffTakesWritesAndConvergesLater) {
  simulator().Partition({"s0"}, {"s1", "s2"});
  simulator().RunFor(milliseconds(200));
  InsertAtAll(30, "k=");
  simulator().RunFor(milliseconds(200));
  EXPECT_EQ(CountTexts("s0"), 10);
  EXPECT_EQ(CountTexts("s1"), 20);
  simulator().HealAll();
  simulator().RunFor(seconds(4));
  ExpectAllHave(30);
}

TEST_F(WriteAnywhereTest, WriteIsAskedForAgainAtAnotherReplica) {
  simulator().Partition({"c"}, {"s0", "s1"});
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < 10; ++i) {
      const auto value = Insert(session, StrCat("k=", i, ";"));
      EXPECT_TRUE(value.ok()) << value.status();
    }
  });
  simulator().HealAll();
  simulator().RunFor(seconds(4));
  ExpectAllHave(10);
}

TEST_F(WriteAnywhereTest, WriteThatTwoReplicasTookIsExecutedOnceOnEach) {
  cluster_.RunOnClient([](ClientSession& session) {
    for (const std::string& server : kServers) {
      EXPECT_TRUE(InsertAt(session, server, "k=x;", {7, 1}).ok()) << server;
    }
    EXPECT_TRUE(InsertAt(session, "s1", "k=x;", {7, 2}).ok());
  });
  simulator().RunFor(seconds(1));
  ExpectAllHave(2);
}

TEST_F(WriteAnywhereTest, ReplicaWithANewDiskIsSentTheLog) {
  InsertAtAll(30, "k=");
  LoseDisk("s1");
  simulator().RunFor(seconds(1));
  simulator().Restart("s1");
  simulator().RunFor(seconds(4));
  ExpectAllHave(30);
  InsertAtAll(3, "k=z");
  simulator().RunFor(seconds(1));
  ExpectAllHave(33);
}

// A node in front of the others moves all of them; and s2 has not all when that happens.
TEST_F(WriteAnywhereTest, NodesThatAreAddedGetAllAndTheOthersKeepTheirs) {
  InsertAtAll(30, "k=a");
  simulator().RunFor(seconds(1));
  simulator().Crash("s2");
  InsertAtAll(10, "k=b", {"s0", "s1"});
  const std::vector<std::string> servers = {"new", "s0", "s1", "newer", "s2"};
  ChangeServers(servers);
  ExpectAllHave(40, servers);
  InsertAtAll(10, "k=c", servers);
  simulator().RunFor(seconds(1));
  ExpectAllHave(50, servers);
}

// What the one that is removed wrote, s1 has and s2 has not, or the other way round.
TEST_F(WriteAnywhereTest, WritesOfANodeThatIsRemovedStay) {
  InsertAtAll(30, "k=a");
  simulator().RunFor(seconds(1));
  simulator().Crash("s2");
  InsertAtAll(10, "k=b", {"s0"});
  simulator().RunFor(seconds(1));
  const std::vector<std::string> servers = {"s2", "s1"};
  ChangeServers(servers);
  ExpectAllHave(40, servers);
  InsertAtAll(10, "k=c", servers);
  simulator().RunFor(seconds(1));
  ExpectAllHave(50, servers);
}

TEST_F(WriteAnywhereTest, LastNodeOfTheSpecThatIsRemovedLeavesItsWritesBehind) {
  simulator().Crash("s0");
  InsertAtAll(10, "k=b", {"s2"});
  simulator().RunFor(seconds(1));
  const std::vector<std::string> servers = {"s0", "s1"};
  ChangeServers(servers);
  ExpectAllHave(10, servers);
}

// The logs have dropped what all had, so that data have to be taken, with the log that follows.
TEST_F(WriteAnywhereTest, ReplicaWithANewDiskTakesAnothersData) {
  constexpr int kSessions = 60;
  constexpr int kWrites = 80;  // each: more than logs keep, and what is between three looks at them
  int ended = 0;
  for (int i = 0; i < kSessions; ++i) {
    cluster_.SpawnOnClient([&, i](ClientSession& session) {
      ReplicaSession replicas(session);
      for (int n = 0; n < kWrites; ++n) {
        EXPECT_TRUE(Insert(replicas, StrCat("k", i, "=", n, ";")).ok());
      }
      ++ended;
    });
  }
  ASSERT_TRUE(simulator().RunUntilTrue([&] { return ended == kSessions; },
                                       simulator().now() + seconds(600)));
  simulator().RunFor(seconds(1));
  LoseDisk("s1");
  simulator().RunFor(seconds(1));
  InSession([](ReplicaSession& session) { EXPECT_TRUE(Insert(session, "k=y;").ok()); });
  simulator().Restart("s1");
  simulator().RunFor(seconds(10));
  EXPECT_GT(Agent("s1")->restore_count(), 0u);
  ExpectAllHave(1);
  for (int i = 0; i < kSessions; ++i) {
    EXPECT_EQ(CountTexts("s1", StrCat("k", i)), kWrites) << i;
  }
  // It starts from what it took.
  simulator().Crash("s1");
  simulator().Restart("s1");
  simulator().RunFor(seconds(4));
  InsertAtAll(3, "k=z");
  simulator().RunFor(seconds(1));
  ExpectAllHave(4);
}

// What s2 lacks is kept for it, but not without end.
TEST_F(WriteAnywhereTest, LogIsNotFilledWithoutEndForOneThatIsAway) {
  simulator().Crash("s2");
  const std::string text(20'000, 'x');
  InSession([&](ReplicaSession& session) {
    Status status;
    int taken = 0;
    for (; taken < 100 && status.ok(); ++taken) {
      status = Insert(session, StrCat("k", taken, "=", text, ";")).status();
    }
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status;
    EXPECT_GT(taken, 40);
  });
  simulator().Restart("s2");
  simulator().RunFor(seconds(6));
  InSession([](ReplicaSession& session) {
    // The first refusals make the logs be looked at.
    for (int i = 0; i < 20; ++i) {
      (void)Insert(session, StrCat("k=early", i, ";")).ok();
      this_thread::SleepFor(milliseconds(300));
    }
    for (int i = 0; i < 9; ++i) EXPECT_TRUE(Insert(session, StrCat("k=late", i, ";")).ok());
  });
  simulator().RunFor(seconds(1));
  for (const std::string& server : kServers) {
    EXPECT_EQ(Value(server, "k"), Value("s0", "k")) << server;
    EXPECT_EQ(CountTexts(server, "k30"), 1) << server;
  }
}

TEST_F(WriteAnywhereTest, FullDiskStopsAReplicaAndTheOthersGoOn) {
  simulator().host("s0").sim_storage().FailWrites(ResourceExhausted("disk full"));
  InSession([](ReplicaSession& session) {
    for (int i = 0; i < 20; ++i) {
      const auto value = Insert(session, StrCat("k=", i, ";"));
      EXPECT_TRUE(value.ok()) << value.status();
    }
  });
  EXPECT_FALSE(cluster_.node("s0")
                   .replication()
                   .FindKeeper(kService, PartitionId(0))
                   ->health()
                   .failure.ok());
  simulator().RunFor(seconds(2));
  EXPECT_EQ(CountTexts("s1"), 20);
  EXPECT_EQ(CountTexts("s2"), 20);
}

TEST_F(WriteAnywhereTest, MessagesThatAreNoneOfThisLevelAreRefused) {
  cluster_.RunOnClient([](ClientSession& session) {
    for (const std::string& message :
         {std::string("poison"), EncodeReplicaMessage({}), std::string()}) {
      Data response;
      CallOptions options;
      options.only = NodeId("s0");
      const Status status =
          Call(session,
               {ServiceName(kReplicationService), PartitionId(0), MethodName(kExchangeMethod),
                AccessMode::kWrite},
               Data(EncodeAddressedMessages({{kService, PartitionId(0), NodeId("s1"), message}})),
               &response, options);
      EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status;
    }
  });
  InsertAtAll(3, "k=");
  simulator().RunFor(seconds(1));
  ExpectAllHave(3);
}

TEST_F(WriteAnywhereTest, ReportsClaimNoVersionAndNoStaleness) {
  InSession([](ReplicaSession& session) {
    ReplicaReport report;
    EXPECT_TRUE(Insert(session, "k=x;", {}, &report).ok());
    EXPECT_EQ(report, ReplicaReport{.was_served = true});
    Data response;
    EXPECT_TRUE(session
                    .Call({kService, PartitionId(0), MethodName("Get"), AccessMode::kRead},
                          Data("k"), &response, {}, &report)
                    .ok());
    EXPECT_EQ(report, ReplicaReport{.was_served = true});
    const Status bounded =
        session.Call({kService, PartitionId(0), MethodName("Get"), AccessMode::kRead}, Data("k"),
                     &response, {.staleness_max = seconds(1)});
    EXPECT_EQ(bounded.code(), StatusCode::kInvalidArgument) << bounded;
  });
}

TEST_F(WriteAnywhereTest, AllReplicasAnnounceThatTheyTakeWrites) {
  simulator().RunFor(seconds(2));
  cluster_.RunOnClient([](ClientSession& session) {
    const auto view = session.client().View();
    const std::vector<Replica>& replicas = view->Replicas(kService, PartitionId(0));
    EXPECT_EQ(replicas.size(), 3u);
    for (const Replica& replica : replicas) {
      const auto said = replica.announced->last();
      const auto section = said->sections.find(kVersionSection);
      ASSERT_NE(section, said->sections.end()) << replica.node;
      const auto version = FindVersion(section->second, kService, PartitionId(0));
      ASSERT_TRUE(version.has_value()) << replica.node;
      EXPECT_TRUE(version->is_peer);
      EXPECT_FALSE(version->is_primary);
      EXPECT_EQ(version->version, 0u);
    }
  });
}

TEST_F(WriteAnywhereTest, StatusPageShowsLevelAndRole) {
  StatusReport report;
  cluster_.node("s1").replication().Describe(&report);
  ASSERT_EQ(report.tables.size(), 1u);
  ASSERT_EQ(report.tables[0].rows.size(), 1u);
  const auto& row = report.tables[0].rows[0];
  EXPECT_EQ(row[2], StatusCell(int64_t{1}));
  EXPECT_EQ(row[3], StatusCell(std::string("peer")));
}

}  // namespace
}  // namespace neptune
