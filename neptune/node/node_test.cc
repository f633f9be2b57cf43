// Whole nodes in the simulated world: membership, calls, failures, aggregation, replay.

#include "neptune/node/node.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/dac/dac.h"
#include "neptune/node/echo_module.h"
#include "neptune/world/sim/simulator.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ServiceName kEcho("echo");

// `node_count` echo servers s0, s1, ... in `partition_count` partitions round robin, and a client node c
// that hosts a service of its own.
ClusterSpec EchoSpec(int node_count, int partition_count) {
  std::string text =
      StrCat("name: 'test' multicast_group: '239.192.7.1:7400' announce_interval_ms: 1000 ",
             "services { name: 'echo' module: 'echo' partition_count: ", partition_count, " } ",
             "services { name: 'idle' module: 'echo' } ",
             "nodes { name: 'c' hosts { service: 'idle' } } ");
  for (int i = 0; i < node_count; ++i) {
    StrAppend(&text, "nodes { name: 's", i,
              "' hosts { service: 'echo' partitions: ", i % partition_count, " } } ");
  }
  const StatusOr<ClusterSpec> spec = ParseClusterSpec(text, "test");
  EXPECT_TRUE(spec.ok()) << spec.status();
  return *spec;
}

StatusOr<std::unique_ptr<ServiceModule>> MakeEcho(const std::string& module) {
  if (module != "echo") return NotFound("no module '", module, "'");
  return std::make_unique<EchoModule>();
}

class SimulatedCluster {
 public:
  SimulatedCluster(uint64_t seed, int node_count, int partition_count)
      : spec_(EchoSpec(node_count, partition_count)), simulator_(seed) {
    for (const NodeSpec& node : spec_.nodes()) AddHost(node.name());
    simulator_.RunFor(milliseconds(500));
  }

  Simulator& simulator() { return simulator_; }
  Node& client() { return *nodes_.at("c"); }
  Node& node(const std::string& name) { return *nodes_.at(name); }

  // Runs `body` on a user-level thread of the client node until it ends.
  void RunOnClient(std::function<void(ClientSession&)> body, Duration limit = seconds(60)) {
    bool done = false;
    client().RunOnControl([&] {
      ClientSession session(client().client());
      body(session);
      done = true;
    });
    ASSERT_TRUE(simulator_.RunUntilTrue([&] { return done; }, simulator_.now() + limit))
        << "seed " << simulator_.seed();
  }

  std::set<std::string> KnownReplicas(uint32_t partition = 0) {
    std::set<std::string> names;
    for (const Replica& replica : client().View()->Replicas(kEcho, PartitionId(partition))) {
      names.insert(replica.node.value());
    }
    return names;
  }

 private:
  void AddHost(const std::string& name) {
    HostOptions options;
    options.name = name;
    options.boot = [this, name](World& world) { return Boot(name, world); };
    simulator_.AddHost(std::move(options));
  }

  std::shared_ptr<void> Boot(const std::string& name, World& world) {
    NodeOptions options;
    options.spec = spec_;
    options.name = NodeId(name);
    options.modules = MakeEcho;
    options.address = static_cast<SimWorld&>(world).address();
    auto node = std::make_shared<Node>(world, std::move(options));
    nodes_[name] = node.get();
    node->Start(
        [name](const Status& status) { ASSERT_TRUE(status.ok()) << name << ": " << status; });
    return node;
  }

  const ClusterSpec spec_;
  std::map<std::string, Node*> nodes_;
  Simulator simulator_;
};

Status Echo(ClientSession& session, uint32_t partition, const std::string& text,
            std::string* answer, Duration timeout = seconds(2), const char* method = "Echo") {
  Data response;
  CallOptions options;
  options.deadline = this_thread::Now() + timeout;
  const Status status = Call(session, kEcho, PartitionId(partition), MethodName(method),
                             AccessMode::kRead, Data(text), &response, options);
  if (status.ok()) *answer = response.bytes();
  return status;
}

TEST(NodeTest, NodesFindEachOtherAndAnswer) {
  SimulatedCluster cluster(1, 4, 2);
  EXPECT_EQ(cluster.KnownReplicas(0), (std::set<std::string>{"s0", "s2"}));
  cluster.RunOnClient([](ClientSession& session) {
    std::string answer;
    for (uint32_t partition : {0, 1}) {
      ASSERT_TRUE(Echo(session, partition, "hello", &answer).ok());
      EXPECT_EQ(answer, "hello");
    }
    EXPECT_EQ(Echo(session, 7, "x", &answer).code(), StatusCode::kUnavailable);
    EXPECT_EQ(Echo(session, 0, "x", &answer, seconds(1), "Nothing").code(),
              StatusCode::kUnimplemented);
    EXPECT_EQ(Echo(session, 0, "why", &answer, seconds(1), "Fail").code(), StatusCode::kInternal);
  });
}

TEST(NodeTest, CallsGoOnWhenAServerIsKilled) {
  SimulatedCluster cluster(2, 2, 1);
  cluster.simulator().Crash("s0");
  cluster.RunOnClient([](ClientSession& session) {
    std::string answer;
    for (int i = 0; i < 100; ++i) {
      const Status status = Echo(session, 0, "x", &answer);
      EXPECT_TRUE(status.ok()) << i << ": " << status;
    }
  });
  cluster.simulator().RunFor(seconds(7));
  EXPECT_EQ(cluster.KnownReplicas(), std::set<std::string>{"s1"});
  cluster.simulator().Restart("s0");
  cluster.simulator().RunFor(seconds(1));
  EXPECT_EQ(cluster.KnownReplicas(), (std::set<std::string>{"s0", "s1"}));
}

TEST(NodeTest, LostDatagramsExpelNobody) {
  SimulatedCluster cluster(3, 3, 1);
  LinkConditions lossy = cluster.simulator().links();
  lossy.datagram_loss = 0.3;
  cluster.simulator().SetLinks(lossy);
  for (int second = 0; second < 300; ++second) {
    cluster.simulator().RunFor(seconds(1));
    ASSERT_EQ(cluster.KnownReplicas().size(), 3u) << "after " << second << " s";
  }
}

TEST(NodeTest, GoodbyeIsKnownAtOnceAndCostsNoCall) {
  SimulatedCluster cluster(4, 2, 1);
  int failures = 0;
  bool leaving = false;
  cluster.client().RunOnControl([&] {
    ClientSession session(cluster.client().client());
    std::string answer;
    while (true) {
      if (!Echo(session, 0, "x", &answer).ok()) ++failures;
      this_thread::SleepFor(milliseconds(1));
    }
  });
  cluster.simulator().RunFor(milliseconds(100));
  cluster.node("s0").Stop(seconds(1), [&] { leaving = true; });
  cluster.simulator().RunFor(milliseconds(300));
  EXPECT_TRUE(leaving);
  EXPECT_EQ(cluster.KnownReplicas(), std::set<std::string>{"s1"});
  EXPECT_EQ(failures, 0);
}

TEST(NodeTest, FullQueueRefusesAndExpiredRequestsAreNotServed) {
  SimulatedCluster cluster(5, 1, 1);
  std::map<StatusCode, int> outcomes;
  cluster.RunOnClient([&](ClientSession& session) {
    size_t outstanding = 100;
    const ThreadRef self(UserThread::Current());
    for (int i = 0; i < 100; ++i) {
      // 30 ms of one processor each: 8 run, 40 wait, the others are refused at once.
      ASSERT_TRUE(
          ThreadScheduler::Current()
              ->Spawn([&] {
                std::string answer;
                ++outcomes[Echo(session, 0, "30000", &answer, milliseconds(500), "Work").code()];
                if (--outstanding == 0) self->Wake();
              })
              .ok());
    }
    while (outstanding > 0) this_thread::Park();
  });
  EXPECT_EQ(outcomes[StatusCode::kResourceExhausted], 52);
  EXPECT_GE(outcomes[StatusCode::kOk], 14);
  EXPECT_GT(outcomes[StatusCode::kDeadlineExceeded], 10);
  cluster.simulator().RunFor(seconds(2));
  EXPECT_EQ(*cluster.node("s0").metrics().Value("neptune_load_index", {{"service", "echo"}}), 0);
}

Status SumPartitions(ClientSession& session, int partition_count, double quality, std::string* sum,
                     AggregationReport* report) {
  AggregationRequest request;
  request.service = kEcho;
  for (int p = 0; p < partition_count; ++p) request.partitions.emplace_back(p);
  request.local = MethodName("Sum");
  request.reduce = MethodName("AddNumbers");
  request.aggregation_quality_min = quality;
  request.deadline = this_thread::Now() + seconds(1);
  Data result;
  const Status status = Aggregate(session, request, &result, report);
  if (status.ok()) *sum = result.bytes();
  return status;
}

TEST(NodeTest, AggregationReducesAllPartitions) {
  SimulatedCluster cluster(6, 5, 5);
  cluster.RunOnClient([](ClientSession& session) {
    std::string sum;
    AggregationReport report;
    ASSERT_TRUE(SumPartitions(session, 5, 1.0, &sum, &report).ok());
    EXPECT_EQ(sum, "10");
    EXPECT_EQ(report.contributing_partitions.size(), 5u);
    EXPECT_EQ(report.quality(), 1.0);
  });
}

TEST(NodeTest, AggregationNamesWhatIsMissingAndKeepsItsGuarantee) {
  SimulatedCluster cluster(7, 5, 5);
  cluster.simulator().Pause("s4");
  cluster.RunOnClient([](ClientSession& session) {
    std::string sum;
    AggregationReport report;
    ASSERT_TRUE(SumPartitions(session, 5, 0.8, &sum, &report).ok());
    EXPECT_EQ(sum, "6");
    ASSERT_EQ(report.missing.size(), 1u);
    EXPECT_EQ(report.missing[0].partition, PartitionId(4));
    EXPECT_EQ(report.missing[0].reason.code(), StatusCode::kDeadlineExceeded);
    EXPECT_EQ(SumPartitions(session, 5, 0.9, &sum, &report).code(), StatusCode::kUnavailable);
    EXPECT_EQ(SumPartitions(session, 5, 0.0, &sum, &report).code(), StatusCode::kInvalidArgument);
  });
}

uint64_t HashOfARun(uint64_t seed) {
  SimulatedCluster cluster(seed, 4, 2);
  cluster.RunOnClient([](ClientSession& session) {
    std::string answer;
    for (int i = 0; i < 50; ++i) (void)Echo(session, i % 2, "x", &answer);
  });
  cluster.simulator().Crash("s1");
  cluster.simulator().RunFor(seconds(10));
  return cluster.simulator().trace_hash();
}

TEST(NodeTest, TheSameSeedGivesTheSameTrace) {
  EXPECT_EQ(HashOfARun(11), HashOfARun(11));
  EXPECT_NE(HashOfARun(11), HashOfARun(12));
}

TEST(ClusterSpecTest, MistakesAreNamed) {
  const auto error = [](const std::string& text) {
    return std::string(ParseClusterSpec(text, "f").status().message());
  };
  const std::string head = "name: 'x' multicast_group: '239.1.1.1:70' ";
  EXPECT_NE(error("name: 'x' nme: 1").find("f:1:"), std::string::npos) << error("name: 'x' nme: 1");
  EXPECT_NE(error("name: 'x' multicast_group: '10.0.0.1:1'").find("multicast_group"),
            std::string::npos);
  EXPECT_NE(error(head).find("no services"), std::string::npos);
  EXPECT_NE(
      error(head + "services { name: 'a' module: 'm' } nodes { name: 'n' hosts { service: 'b' } }")
          .find("no service of the cluster"),
      std::string::npos);
  EXPECT_NE(error(head + "services { name: 'a' module: 'm' } "
                         "nodes { name: 'n' hosts { service: 'a' partitions: 1 } }")
                .find("which has 1"),
            std::string::npos);
}

}  // namespace
}  // namespace neptune
