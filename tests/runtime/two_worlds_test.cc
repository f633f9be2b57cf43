// One scenario, two worlds: the same nodes with the same module on kernel threads and real sockets,
// and in the simulated world. What a caller sees is the same text.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/dac/dac.h"
#include "neptune/security/certificate_maker.h"
#include "neptune/service/client_stream.h"
#include "neptune/testing/real_node.h"
#include "neptune/testing/simulated_cluster.h"
#include "neptune/thread/synchronization.h"
#include "neptune/world/real/real_world.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kNodeCount = 4;
constexpr int kPartitionCount = 2;

class Scenario {
 public:
  Scenario(Node& client, Node& leaving) : client_(client), leaving_(leaving) {}

  // On a user-level thread of the client node. What happened, a line each.
  std::string Run() {
    WaitForReplicas(kNodeCount);
    for (uint32_t partition = 0; partition < kPartitionCount; ++partition) {
      for (int i = 0; i < 20; ++i) Say(CallOnce("Echo", partition, StrCat("hello ", i)));
    }
    Say(CallOnce("Nothing", 0, "x"));
    Say(CallOnce("Fail", 0, "why"));
    Say(CallOnce("Echo", 7, "x"));
    Say(CallOnce("Echo", 0, std::string(300'000, 'x')));
    Say(CallOnce("Work", 0, "2000"));
    Say(CallOnce("Work", 0, "300000", milliseconds(50)));
    Say(Sum(DisseminationMode::kForward));
    Say(Sum(DisseminationMode::kUnicast));
    Say(Sum(DisseminationMode::kMulticast));
    Say(StreamOf("EchoMessages", "", 500, 1000));
    Say(StreamOf("EchoMessages", "", 3, 900'000));
    Say(StreamOf("CountUp", "20000", 0, 0));
    Say(StreamOf("CountUp", "nonsense", 0, 0));
    Say(StreamOf("Echo", "", 1, 1));
    Say(CallOnce("CountUp", 0, "1"));
    Say(GiveUpStream());
    Leave();
    for (int i = 0; i < 20; ++i) Say(CallOnce("Echo", 0, StrCat("again ", i)));
    return said_;
  }

 private:
  void Say(const std::string& line) { StrAppend(&said_, line, "\n"); }

  void WaitForReplicas(size_t count) {
    const TimePoint limit = this_thread::Now() + seconds(10);
    while (ReplicaCount() != count && this_thread::Now() < limit) {
      this_thread::SleepFor(milliseconds(5));
    }
    Say(StrCat(ReplicaCount(), " replicas"));
  }

  size_t ReplicaCount() {
    size_t count = 0;
    for (uint32_t p = 0; p < kPartitionCount; ++p) {
      count += client_.client().View()->Replicas(ServiceName("echo"), PartitionId(p)).size();
    }
    return count;
  }

  std::string CallOnce(const char* method, uint32_t partition, const std::string& text,
                       Duration timeout = seconds(5)) {
    ClientSession session(client_.client());
    CallOptions options;
    options.deadline = this_thread::Now() + timeout;
    Data answer;
    const Status status =
        Call(session,
             {ServiceName("echo"), PartitionId(partition), MethodName(method), AccessMode::kRead},
             Data(text), &answer, options);
    return StrCat(method, " ", absl::StatusCodeToString(status.code()), " ",
                  answer.bytes() == text ? "same" : answer.bytes());
  }

  std::string Sum(DisseminationMode mode) {
    ClientSession session(client_.client());
    AggregationRequest request;
    request.service = ServiceName("echo");
    for (uint32_t p = 0; p < kPartitionCount; ++p) request.partitions.emplace_back(p);
    request.local = MethodName("Sum");
    request.reduce = MethodName("AddNumbers");
    request.dissemination = mode;
    request.deadline = this_thread::Now() + seconds(5);
    Data result;
    AggregationReport report;
    const Status status = Aggregate(session, request, &result, &report);
    return StrCat("sum ", status.ok() ? result.bytes() : "failed", " of quality ",
                  report.quality());
  }

  // Writes `count` messages on a thread of its own while this one reads.
  std::string StreamOf(const char* method, const std::string& request, int count, size_t size) {
    ClientSession session(client_.client());
    auto stream = OpenStream(session, ServiceName("echo"), PartitionId(0), MethodName(method),
                             Data(request), {.deadline = this_thread::Now() + seconds(20)});
    if (!stream.ok()) return stream.status().ToString();
    const auto writer = ThreadScheduler::Current()->Spawn([&] {
      for (int i = 0; i < count; ++i) {
        if (!(*stream)->Write(Data(std::string(size, static_cast<char>('a' + i % 26)))).ok()) break;
      }
      (*stream)->EndWriting();
    });
    int read = 0;
    size_t bytes = 0;
    auto message = (*stream)->Read();
    for (; message.ok() && message->has_value(); message = (*stream)->Read()) {
      ++read;
      bytes += (*message)->bytes().size();
      if (count > 0) {
        EXPECT_EQ((*message)->bytes()[0], 'a' + (read - 1) % 26);
      }
    }
    ThreadScheduler::Current()->Join(*writer->get(), kNever);
    return StrCat(method, " stream ", absl::StatusCodeToString(message.status().code()), " ", read,
                  " messages of ", bytes, " bytes");
  }

  // A stream that its owner drops costs its server nothing more.
  std::string GiveUpStream() {
    ClientSession session(client_.client());
    auto stream = OpenStream(session, ServiceName("echo"), PartitionId(0),
                             MethodName("EchoMessages"), Data());
    EXPECT_TRUE((*stream)->Write(Data("x")).ok());
    EXPECT_TRUE((*stream)->Read().ok());
    stream->reset();
    return CallOnce("Echo", 0, "after");
  }

  void Leave() {
    OneShotEvent stopped;
    leaving_.Stop(seconds(2), [&] { stopped.Set(); });
    stopped.Wait();
    WaitForReplicas(kNodeCount - 1);
  }

  Node& client_;
  Node& leaving_;
  std::string said_;
};

// How nodes choose replicas, and what they demand of each other.
struct Setting {
  const char* balancing;
  bool with_key = false;
  bool with_tls = false;
};

void PutSecret(const std::string& name, const std::string& contents) {
  const std::string path = StrCat(testing::TempDir(), "/", name);
  std::filesystem::remove(path);
  std::ofstream(path) << contents;
  chmod(path.c_str(), 0600);
}

// Valid in the simulated world, whose clock begins in 2020, and now.
void PutCertificates(const ClusterSpec& spec) {
  const Validity validity{WallTime{1500000000ll * 1000000000}, WallTime{4000000000ll * 1000000000}};
  const auto authority = MakeAuthority("test", validity);
  PutSecret("authority.crt", authority->certificate);
  for (const NodeSpec& node : spec.nodes()) {
    const auto own = MakeCertificate(*authority, node.name(), {}, validity);
    PutSecret(node.name() + ".crt", own->certificate);
    PutSecret(node.name() + ".key", own->key);
  }
}

ClusterSpec SpecOf(const Setting& setting) {
  ClusterSpec spec = EchoSpec(kNodeCount, kPartitionCount);
  spec.set_balancing(setting.balancing);
  if (setting.with_key) {
    PutSecret("key", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    spec.set_cluster_key_file("key");
  }
  if (setting.with_tls) {
    PutCertificates(spec);
    spec.mutable_node_tls()->set_certificate_file("{node}.crt");
    spec.mutable_node_tls()->set_key_file("{node}.key");
    spec.mutable_node_tls()->set_authority_file("authority.crt");
  }
  return spec;
}

std::string SecretsFolder(const std::string&) { return testing::TempDir(); }

std::string RunSimulated(const Setting& setting) {
  SimulatedCluster cluster({.spec = SpecOf(setting), .spec_directory = SecretsFolder});
  std::string said;
  cluster.RunOnClient(
      [&](ClientSession&) { said = Scenario(cluster.client(), cluster.node("s0")).Run(); });
  return said;
}

std::string RunReal(const Setting& setting) {
  ClusterSpec spec = SpecOf(setting);
  // Other runs on this machine hear other groups.
  const UniquePort port;
  spec.set_name(StrCat("test-", port.number()));
  spec.set_multicast_group(StrCat("239.192.7.2:", port.number()));
  for (NodeSpec& node : *spec.mutable_nodes()) {
    node.set_serving_threads(2);
    node.set_worker_threads(2);
  }
  std::map<std::string, std::unique_ptr<RealNode>> nodes;
  for (const NodeSpec& node : spec.nodes()) {
    NodeOptions options;
    options.spec = spec;
    options.name = NodeId(node.name());
    options.modules = MakeEcho;
    options.spec_directory = testing::TempDir();
    nodes[node.name()] = StartRealNode(std::move(options));
  }
  std::string said;
  Notification done;
  Node& client = nodes.at("c")->node();
  client.RunOnControl([&] {
    said = Scenario(client, nodes.at("s0")->node()).Run();
    done.Notify();
  });
  done.WaitForNotification();
  return said;
}

class TwoWorldsTest : public testing::TestWithParam<Setting> {};

TEST_P(TwoWorldsTest, TheSameScenarioLooksTheSame) {
  const std::string simulated = RunSimulated(GetParam());
  EXPECT_EQ(RunReal(GetParam()), simulated);
  EXPECT_NE(simulated.find("Work DEADLINE_EXCEEDED"), std::string::npos) << simulated;
  EXPECT_NE(simulated.find("EchoMessages stream OK 500 messages of 500000 bytes"),
            std::string::npos)
      << simulated;
  EXPECT_NE(simulated.find("CountUp stream OK 20000 messages"), std::string::npos) << simulated;
  EXPECT_NE(simulated.find("CountUp stream INVALID_ARGUMENT 0 messages"), std::string::npos)
      << simulated;
  EXPECT_NE(simulated.find("sum 1 of quality 1"), std::string::npos) << simulated;
  EXPECT_NE(simulated.find("3 replicas\nEcho OK same\n"), std::string::npos) << simulated;
}

INSTANTIATE_TEST_SUITE_P(EveryBalancingPolicy, TwoWorldsTest,
                         testing::Values(Setting{"probe_pool"}, Setting{"poll"},
                                         Setting{"broadcast"}, Setting{"round_robin"},
                                         Setting{"random"}));
INSTANTIATE_TEST_SUITE_P(Secured, TwoWorldsTest,
                         testing::Values(Setting{"probe_pool", true}, Setting{"poll", true},
                                         Setting{"probe_pool", true, true}));

}  // namespace
}  // namespace neptune
