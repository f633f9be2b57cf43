// Whole nodes in the simulated world: membership, calls, failures, aggregation, replay.

#include "neptune/node/node.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "neptune/dac/dac.h"
#include "neptune/node/node_capsules.h"
#include "neptune/testing/simulated_cluster.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ServiceName kEcho("echo");

Status Echo(ClientSession& session, uint32_t partition, const std::string& text,
            std::string* answer, Duration timeout = seconds(2), const char* method = "Echo") {
  Data response;
  CallOptions options;
  options.deadline = this_thread::Now() + timeout;
  const Status status =
      Call(session, {kEcho, PartitionId(partition), MethodName(method), AccessMode::kRead},
           Data(text), &response, options);
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

TEST(NodeTest, LostDatagramsRemoveNoNode) {
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
          .find("not a service of the cluster"),
      std::string::npos);
  EXPECT_NE(error(head + "services { name: 'a' module: 'm' } "
                         "nodes { name: 'n' hosts { service: 'a' partitions: 1 } }")
                .find("which has 1"),
            std::string::npos);
  EXPECT_NE(error(head + "admin_access: 'all' services { name: 'a' module: 'm' } "
                         "nodes { name: 'n' hosts { service: 'a' } }")
                .find("expected 'local' or 'network'"),
            std::string::npos);
  const std::string service = head + "services { name: 'a' module: 'm' } ";
  const std::string host = " hosts { service: 'a' } }";
  EXPECT_EQ(error(service + "nodes { name: 'n' serving_threads_work: true" + host), "");
  EXPECT_NE(error(service + "nodes { name: 'n' serving_threads_work: true worker_threads: 1" + host)
                .find("worker_threads and serving_threads_work"),
            std::string::npos);
}

TEST(ClusterSpecTest, DirectoryTakesThePlaceOfTheMulticastGroup) {
  const auto error = [](const std::string& membership) {
    return std::string(ParseClusterSpec(StrCat("name: 'x'\nmembership {", membership,
                                               "}\nservices { name: 'a' module: 'm' }"
                                               "nodes { name: 'n' hosts { service: 'a' } }"),
                                        "f")
                           .status()
                           .message());
  };
  EXPECT_EQ(error("directory: 'etcd' etcd_endpoints: '10.0.0.9:2379'"), "");
  EXPECT_EQ(error("directory: 'file:/var/lib/neptune-x/shared.1'"), "");
  for (const char* wrong :
       {"directory: 'phonebook' etcd_endpoints: '10.0.0.9:2379'", "directory: 'etcd'",
        "directory: 'etcd' etcd_endpoints: '10.0.0.9'",
        "directory: 'etcd' etcd_endpoints: '10.0.0.9:0'",
        "directory: 'etcd' etcd_endpoints: '0.0.0.0:2379'", "directory: 'file:'",
        "directory: 'file:here'", "directory: 'file:/with space'", "directory: 'file:/a\\\\nb'",
        "directory: 'file:/here' etcd_endpoints: '10.0.0.9:2379'",
        "etcd_endpoints: '10.0.0.9:2379'", "poll_interval_ms: 60001"}) {
    EXPECT_TRUE(error(wrong).starts_with("f:2: ")) << wrong << ": " << error(wrong);
  }
  std::string many = "directory: 'etcd'";
  for (int i = 0; i < 17; ++i) StrAppend(&many, " etcd_endpoints: '10.0.0.9:2379'");
  EXPECT_TRUE(error(many).starts_with("f:2: membership: expected 1 to 16 etcd_endpoints"));
  EXPECT_TRUE(error("").starts_with("f:")) << "neither a group nor a directory";
}

TEST(ClusterSpecTest, MistakesInCapsulesNameTheirLine) {
  const auto error = [](const std::string& capsules, const std::string& of_node) {
    return std::string(
        ParseClusterSpec(StrCat("name: 'x'\nmulticast_group: '239.1.1.1:70'\n", capsules,
                                "\nservices { name: 'a' module: 'm' }\nnodes { name: 'n' "
                                "hosts { service: 'a' } ",
                                of_node, " }"),
                         "f")
            .status()
            .message());
  };
  EXPECT_EQ(error("capsules { name: 'c' match: 'service:a' }",
                  "capsules { name: 'd' match: 'service:a/0' }"),
            "");
  const std::string of_cluster = error("capsules { name: 'c' match: 'x' }", "");
  EXPECT_EQ(of_cluster.find("f:3: capsule 'c': match: rule 'x'"), 0u) << of_cluster;
  const std::string of_node = error("", "capsules { name: 'c' }");
  EXPECT_EQ(of_node.find("f:5: node 'n': capsule 'c'"), 0u) << of_node;
}

TEST(ClusterSpecTest, CapsuleFilesAreReadFromTheFolderOfTheSpec) {
  const std::string folder = std::getenv("TEST_TMPDIR");
  const std::string path = folder + "/spec";
  ASSERT_TRUE(WriteFileAtomically(path,
                                  "name: 'x' multicast_group: '239.1.1.1:70' "
                                  "capsules { name: 'top' match: 'service:a/0' } "
                                  "capsule_file: 'capsules' services { name: 'a' module: 'm' } "
                                  "nodes { name: 'n' hosts { service: 'a' } "
                                  "capsules { name: 'own' match: 'service:a' } }")
                  .ok());
  ASSERT_TRUE(
      WriteFileAtomically(folder + "/capsules", "capsule from-file { match: service:b }").ok());
  const StatusOr<ClusterSpec> spec = LoadClusterSpec(path);
  ASSERT_TRUE(spec.ok()) << spec.status();
  std::vector<std::string> warnings;
  const auto capsules = CapsulesOf(*spec, NodeId("n"), folder, &warnings);
  ASSERT_TRUE(capsules.ok()) << capsules.status();
  ASSERT_EQ(capsules->size(), 3u);
  EXPECT_EQ((*capsules)[0].name, "own");
  EXPECT_EQ((*capsules)[1].name, "top");
  EXPECT_EQ((*capsules)[2].name, "from-file");
  ASSERT_EQ(warnings.size(), 1u) << "the node's own shadows the cluster's";
  EXPECT_NE(warnings[0].find("'service:a/0' is shadowed"), std::string::npos) << warnings[0];
  ASSERT_TRUE(WriteFileAtomically(folder + "/capsules", "\n}").ok());
  EXPECT_NE(LoadClusterSpec(path).status().message().find("/capsules:2: "), std::string::npos);
}

TEST(ClusterSpecTest, MistakesNameFileAndLine) {
  const auto error = [](const std::string& text) {
    return std::string(ParseClusterSpec(text, "f").status().message());
  };
  const std::string head = "name: 'x'\nmulticast_group: '239.1.1.1:70'\n";
  const std::string service = "services {\n  name: 'a'\n  module: 'm'\n}\n";
  EXPECT_TRUE(error("name: 'x'\nmulticast_group: '10.0.0.1:1'").starts_with("f:2: multicast_group"))
      << error("name: 'x'\nmulticast_group: '10.0.0.1:1'");
  EXPECT_TRUE(error(head + "balancing: 'best'\n").starts_with("f:3: unknown balancing policy"))
      << error(head + "balancing: 'best'\n");
  EXPECT_TRUE(error(head + service + "nodes {\n  name: 'n'\n  hosts { service: 'b' }\n}")
                  .starts_with("f:7: node 'n' hosts 'b'"));
  EXPECT_TRUE(error(head + service + service).starts_with("f:1: the cluster has no nodes"));
  EXPECT_TRUE(error(head + service + service + "nodes { name: 'n' hosts { service: 'a' } }")
                  .starts_with("f:7: service 'a' is defined twice"));
  EXPECT_TRUE(error(head + "services { name: 'a' module: 'm'\n"
                           "parameters { key: 'k' }\nparameters { key: 'k' } }\n"
                           "nodes { name: 'n' hosts { service: 'a' } }")
                  .starts_with("f:3: service 'a' has the parameter 'k' twice"));
}

}  // namespace
}  // namespace neptune
