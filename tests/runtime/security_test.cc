// Whole clusters with keys and certificates, in the simulated world: who gets in, who does not, and
// what a change of the key costs.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "neptune/base/strings.h"
#include "neptune/replication/agent/addressed_message.h"
#include "neptune/replication/agent/replication_services.h"
#include "neptune/security/certificate_maker.h"
#include "neptune/security/datagram_seal.h"
#include "neptune/security/refusal_log.h"
#include "neptune/security/secure_network.h"
#include "neptune/security/tls_context.h"
#include "neptune/service/client.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/node_loops.h"
#include "neptune/testing/simulated_cluster.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/thread/user_thread.h"
#include "tests/runtime/replicated_registers.h"

namespace neptune {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kOld[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
constexpr char kNew[] = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeffe0e1e2e3e4e5e6e7e8e9eaebecedeeef";

// A folder for each node, with its own key and certificate.
class Secrets {
 public:
  Secrets() : folder_(std::filesystem::path(testing::TempDir()) / "secrets") {
    std::filesystem::remove_all(folder_);
  }
  std::string FolderOf(const std::string& node) const { return (folder_ / node).string(); }
  void Put(const std::string& node, const std::string& file, const std::string& contents) const {
    std::filesystem::create_directories(folder_ / node);
    const std::filesystem::path path = folder_ / node / file;
    std::filesystem::remove(path);
    std::ofstream(path) << contents;
    chmod(path.c_str(), 0600);
  }
  void PutKeys(const std::string& keys) const {
    for (const char* node : {"c", "s0", "s1", "s2"}) Put(node, "cluster_key", keys);
  }
  void PutCertificate(const std::string& node, const KeyAndCertificate& authority,
                      const KeyAndCertificate& own) const {
    Put(node, "node.key", own.key);
    Put(node, "node.crt", own.certificate);
    Put(node, "authority.crt", authority.certificate);
  }

 private:
  const std::filesystem::path folder_;
};

SimulatedClusterOptions OptionsOf(const Secrets& secrets, bool with_tls) {
  SimulatedClusterOptions options;
  options.seed = 7;
  options.spec = EchoSpec(3, 1);
  options.spec.set_cluster_key_file("cluster_key");
  if (with_tls) {
    NodeTls& tls = *options.spec.mutable_node_tls();
    tls.set_certificate_file("node.crt");
    tls.set_key_file("node.key");
    tls.set_authority_file("authority.crt");
  }
  options.spec_directory = [&secrets](const std::string& node) { return secrets.FolderOf(node); };
  return options;
}

Status CallEcho(ClientSession& session) {
  Data answer;
  CallOptions options;
  options.deadline = this_thread::Now() + seconds(2);
  return Call(session, {ServiceName("echo"), PartitionId(0), MethodName("Echo"), AccessMode::kRead},
              Data("x"), &answer, options);
}

// How many of as many calls of the client were answered.
int Answered(SimulatedCluster& cluster, int count) {
  int answered = 0;
  cluster.RunOnClient([&](ClientSession& session) {
    for (int i = 0; i < count; ++i) {
      const Status status = CallEcho(session);
      EXPECT_TRUE(status.ok()) << status;
      answered += status.ok() ? 1 : 0;
    }
  });
  return answered;
}

// Returns the answer at that endpoint to a plain caller.
Status ConnectFrom(SimulatedCluster& cluster, const std::string& from, const Endpoint& endpoint) {
  std::optional<Status> outcome;
  NodeLoop& loop = *cluster.node(from).loops().serving()[0];
  std::unique_ptr<Stream> kept;
  loop.loop->Post([&] {
    loop.network().Connect(endpoint, loop.loop->Now() + seconds(1),
                           [&](StatusOr<std::unique_ptr<Stream>> stream) {
                             outcome = stream.status();
                             if (stream.ok()) kept = *std::move(stream);
                           });
  });
  cluster.simulator().RunUntilTrue([&] { return outcome.has_value(); },
                                   cluster.simulator().now() + seconds(3));
  loop.loop->Post([&] { kept.reset(); });
  cluster.simulator().RunFor(milliseconds(1));
  return outcome.value_or(Internal("no callback"));
}

Status ConnectFrom(SimulatedCluster& cluster, const std::string& from, const std::string& to) {
  return ConnectFrom(cluster, from, cluster.node(to).call_endpoint());
}

TEST(NodeSecurityTest, TheControlPortDemandsTheKeyToo) {
  Secrets secrets;
  secrets.PutKeys(kOld);
  secrets.Put("s2", "cluster_key", kNew);
  SimulatedCluster cluster(OptionsOf(secrets, false));
  const Endpoint control = cluster.node("s0").control_endpoint();
  EXPECT_TRUE(ConnectFrom(cluster, "s1", control).ok());
  const Status refused = ConnectFrom(cluster, "s2", control);
  EXPECT_NE(refused.message().find("none of the cluster keys"), absl::string_view::npos) << refused;
}

TEST(NodeSecurityTest, NodesWithOneKeyWorkAsOne) {
  Secrets secrets;
  secrets.PutKeys(kOld);
  SimulatedCluster cluster(OptionsOf(secrets, false));
  EXPECT_EQ(cluster.KnownNodes(), (std::set<std::string>{"c", "s0", "s1", "s2"}));
  EXPECT_EQ(Answered(cluster, 100), 100);
  EXPECT_TRUE(ConnectFrom(cluster, "s0", "s1").ok());
}

TEST(NodeSecurityTest, ANodeWithTheWrongKeyNeitherJoinsNorCallsAndTheOthersGoOn) {
  Secrets secrets;
  secrets.PutKeys(kOld);
  secrets.Put("s2", "cluster_key", kNew);
  SimulatedCluster cluster(OptionsOf(secrets, false));
  cluster.simulator().RunFor(seconds(5));
  const std::set<std::string> others = {"c", "s0", "s1"};
  for (const std::string& name : others) EXPECT_EQ(cluster.KnownNodes(name), others);
  EXPECT_EQ(cluster.KnownNodes("s2"), std::set<std::string>{"s2"});
  const Status refused = ConnectFrom(cluster, "s2", "s0");
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable);
  EXPECT_NE(refused.message().find("none of the cluster keys"), absl::string_view::npos) << refused;
  EXPECT_EQ(Answered(cluster, 100), 100);
  EXPECT_GT(cluster.node("s0").refusals().count(Refusal::kDatagram), 0u);
  EXPECT_EQ(cluster.node("s0").refusals().count(Refusal::kAccepted), 1u);
  EXPECT_EQ(cluster.node("s2").refusals().count(Refusal::kMade), 1u);
  EXPECT_EQ(*cluster.node("s0").metrics().Value("neptune_security_refusals_total",
                                                {{"kind", "accepted"}}),
            1);
}

TEST(NodeSecurityTest, AnnouncementsStayWithinOneDatagram) {
  Secrets secrets;
  secrets.PutKeys(StrCat(kNew, "\n", kOld));
  SimulatedCluster cluster(OptionsOf(secrets, false));
  EXPECT_EQ(cluster.KnownNodes().size(), 4u);
  EXPECT_EQ(kAnnouncementSizeMax - kSealSizeMax, 1439u);
}

// Two rolling restarts: OLD, then NEW and OLD, then NEW; a caller never notices.
TEST(NodeSecurityTest, TheKeyChangesUnderLoadWithoutAFailedCall) {
  Secrets secrets;
  secrets.PutKeys(kOld);
  SimulatedCluster cluster(OptionsOf(secrets, false));
  for (const std::string& keys : {StrCat(kNew, "\n", kOld), std::string(kNew)}) {
    for (const char* node : {"s0", "s1", "s2"}) {
      secrets.Put(node, "cluster_key", keys);
      bool stopped = false;
      bool ended = false;
      int answered = 0;
      cluster.SpawnOnClient([&](ClientSession& session) {
        while (!stopped || answered < 50) {
          const Status status = CallEcho(session);
          EXPECT_TRUE(status.ok()) << node << ": " << status;
          ++answered;
          this_thread::SleepFor(milliseconds(1));
        }
        ended = true;
      });
      cluster.node(node).Stop(seconds(1), [&] { stopped = true; });
      ASSERT_TRUE(cluster.simulator().RunUntilTrue([&] { return stopped && ended; },
                                                   cluster.simulator().now() + seconds(10)));
      cluster.simulator().Restart(node);
      cluster.simulator().RunFor(seconds(1));
      EXPECT_EQ(cluster.KnownReplicas().size(), 3u) << node << " with " << keys.size();
    }
    // The caller itself last.
    secrets.Put("c", "cluster_key", keys);
    bool stopped = false;
    cluster.client().Stop(seconds(1), [&] { stopped = true; });
    ASSERT_TRUE(cluster.simulator().RunUntilTrue([&] { return stopped; },
                                                 cluster.simulator().now() + seconds(10)));
    cluster.simulator().Restart("c");
    cluster.simulator().RunFor(seconds(1));
    EXPECT_EQ(Answered(cluster, 20), 20);
  }
  EXPECT_EQ(cluster.client().refusals().count(Refusal::kDatagram), 0u);
}

class NodeTlsTest : public testing::Test {
 protected:
  NodeTlsTest() : authority_(*MakeAuthority("authority of a test", Around(hours(24)))) {
    secrets_.PutKeys(kOld);
    for (const char* node : {"c", "s0", "s1", "s2"}) {
      secrets_.PutCertificate(node, authority_, Certificate(node, hours(24)));
    }
  }
  // From before the simulation begins.
  static Validity Around(Duration until) {
    return {WallTime{Start() - 3600'000'000'000}, WallTime{Start() + until.count()}};
  }
  static int64_t Start() {
    Simulator simulator(1);
    return simulator.AddHost({.name = "clock"}).wall_time().ns_since_1970;
  }
  KeyAndCertificate Certificate(const std::string& node, Duration until) {
    return *MakeCertificate(authority_, node, {}, Around(until));
  }
  Secrets secrets_;
  const KeyAndCertificate authority_;
};

TEST_F(NodeTlsTest, NodesWithCertificatesOfOneAuthorityWorkAsOne) {
  SimulatedCluster cluster(OptionsOf(secrets_, true));
  EXPECT_EQ(Answered(cluster, 100), 100);
}

TEST_F(NodeTlsTest, OnlyTheCallersOfTheSpecAreServed) {
  SimulatedClusterOptions options = OptionsOf(secrets_, true);
  options.spec.mutable_services(0)->add_callers("idle");  // that of the client
  {
    SimulatedCluster cluster(options);
    EXPECT_EQ(Answered(cluster, 20), 20);
  }
  *options.spec.mutable_services(0)->mutable_callers(0) = "echo";
  SimulatedCluster cluster(options);
  cluster.RunOnClient([](ClientSession& session) {
    EXPECT_EQ(CallEcho(session).code(), StatusCode::kPermissionDenied);
  });
  uint64_t refused = 0;
  for (const char* const node : {"s0", "s1", "s2"}) {
    refused += cluster.node(node).refusals().count(Refusal::kCaller);
  }
  EXPECT_GE(refused, 1u);
}

class ReplicationTlsTest : public NodeTlsTest {
 protected:
  SimulatedClusterOptions Registers() {
    SimulatedClusterOptions options = OptionsOf(secrets_, true);
    const ClusterSpec with_credentials = options.spec;
    options.spec = RegisterSpec({"s0", "s1", "s2"}, kOrdered);
    options.spec.set_cluster_key_file(with_credentials.cluster_key_file());
    *options.spec.mutable_node_tls() = with_credentials.node_tls();
    secrets_.Put("w", "cluster_key", kOld);
    secrets_.PutCertificate("w", authority_, Certificate("w", hours(24)));
    options.modules = MakeModules;
    return options;
  }
  // What node s1 answers to the client's message of a replica.
  static Status SendAs(SimulatedCluster& cluster, const std::string& sender) {
    Status status;
    cluster.RunOnClient([&](ClientSession& session) {
      CallOptions options;
      options.deadline = this_thread::Now() + seconds(2);
      options.only = NodeId("s1");
      Data answer;
      const AddressedMessage message{kRegisters, PartitionId(0), NodeId(sender), ""};
      status = Call(session,
                    {ServiceName(kReplicationService), PartitionId(0), MethodName(kExchangeMethod),
                     AccessMode::kWrite},
                    Data(EncodeAddressedMessages({message})), &answer, options);
    });
    return status;
  }
};

TEST_F(ReplicationTlsTest, MembersReplicateAndOthersMayNotTakePart) {
  SimulatedCluster cluster(Registers());
  cluster.simulator().RunFor(seconds(2));
  cluster.RunOnClient([](ClientSession& session) {
    ReplicaSession replicas(session);
    Data answer;
    const Status status =
        replicas.Call({kRegisters, PartitionId(0), MethodName("Append"), AccessMode::kWrite},
                      Data("k=x"), &answer, {.deadline = this_thread::Now() + seconds(5)});
    EXPECT_TRUE(status.ok()) << status;
  });
  EXPECT_EQ(SendAs(cluster, "s0").code(), StatusCode::kPermissionDenied);
  EXPECT_GE(cluster.node("s1").refusals().count(Refusal::kCaller), 1u);
}

TEST_F(ReplicationTlsTest, ANodeWithTheCertificateOfAnotherDoesNotStart) {
  SimulatedClusterOptions options = Registers();
  SimulatedCluster cluster(options);
  secrets_.PutCertificate("s1", authority_, Certificate("s2", hours(24)));
  cluster.simulator().Crash("s1");
  const Status status = cluster.FailedStart("s1");
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("node s1 is for 's2'"), absl::string_view::npos) << status;
}

// The client shows the certificate of s2, as a member that went bad would.
TEST_F(ReplicationTlsTest, AMemberSpeaksForItselfAlone) {
  SimulatedCluster cluster(Registers());
  secrets_.PutCertificate("c", authority_, Certificate("s2", hours(24)));
  cluster.simulator().RunFor(seconds(2));
  const Status status = SendAs(cluster, "s0");
  EXPECT_EQ(status.code(), StatusCode::kPermissionDenied) << status;
  EXPECT_NE(status.message().find("node 's2' sent what is from node s0"), absl::string_view::npos)
      << status;
}

TEST_F(NodeTlsTest, AnExpiredCertificateIsRefusedAndTheOthersGoOn) {
  secrets_.PutCertificate("s2", authority_, Certificate("s2", seconds(20)));
  SimulatedCluster cluster(OptionsOf(secrets_, true));
  EXPECT_TRUE(ConnectFrom(cluster, "s2", "s0").ok());
  cluster.simulator().RunFor(seconds(30));
  const Status refused = ConnectFrom(cluster, "s0", "s2");
  EXPECT_NE(refused.message().find("certificate has expired"), absl::string_view::npos) << refused;
  const Status outcome = ConnectFrom(cluster, "s2", "s0");
  EXPECT_NE(outcome.message().find("expired"), absl::string_view::npos) << outcome;
  EXPECT_TRUE(ConnectFrom(cluster, "s0", "s1").ok());
}

TEST_F(NodeTlsTest, ACertificateOfAnotherAuthorityIsRefusedWithTheCause) {
  const KeyAndCertificate foreign = *MakeAuthority("another authority", Around(hours(24)));
  secrets_.PutCertificate("s2", foreign, *MakeCertificate(foreign, "s2", {}, Around(hours(24))));
  SimulatedCluster cluster(OptionsOf(secrets_, true));
  const Status refused = ConnectFrom(cluster, "s0", "s2");
  EXPECT_NE(refused.message().find("not of this cluster's authority"), absl::string_view::npos)
      << refused;
  EXPECT_EQ(Answered(cluster, 100), 100);
}

struct Collector final : public StreamHandler {
  void OnData(std::string_view bytes) override { received += bytes; }
  void OnClosed(const Status&) override {}

  std::unique_ptr<Stream> stream;
  std::string received;
};

// The status that the administration port of s0 answers to a client of the loop.
std::string AskAdmin(SimulatedCluster& cluster, Loop& loop, Network& network, std::string_view page,
                     std::string_view headers = "") {
  const Endpoint admin = cluster.node("s0").admin_endpoint();
  const std::string request =
      StrCat("GET ", page, " HTTP/1.1\r\nHost: ", admin.ToString(), "\r\n", headers, "\r\n");
  Collector collector;
  loop.Post([&] {
    network.Connect(admin, loop.Now() + seconds(1), [&](StatusOr<std::unique_ptr<Stream>> made) {
      ASSERT_TRUE(made.ok()) << made.status();
      collector.stream = *std::move(made);
      collector.stream->Start(&collector);
      collector.stream->Write(request);
    });
  });
  cluster.simulator().RunFor(seconds(2));
  loop.Post([&] { collector.stream.reset(); });
  cluster.simulator().RunFor(milliseconds(1));
  return collector.received.substr(0, std::string_view("HTTP/1.1 200").size());
}

TEST_F(NodeTlsTest, TheAdministrationPortAnswersByAddressAndTheTokenByHttps) {
  for (const char* node : {"c", "s0", "s1", "s2"}) {
    secrets_.Put(node, "token", "0123456789abcdef0123456789abcdef");
  }
  SimulatedClusterOptions options = OptionsOf(secrets_, true);
  options.spec.set_admin_token_file("token");
  SimulatedCluster cluster(options);
  constexpr char kBearer[] = "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n";
  Loop& member = *cluster.node("s1").loops().serving()[0]->loop;
  EXPECT_EQ(AskAdmin(cluster, member, member.network(), "/statusz"), "HTTP/1.1 200");
  EXPECT_EQ(AskAdmin(cluster, member, member.network(), "/statusz", kBearer), "HTTP/1.1 403");
  Loop& stranger = **cluster.simulator().AddHost({.name = "stranger"}).StartLoop({.name = "loop"});
  EXPECT_EQ(AskAdmin(cluster, stranger, stranger.network(), "/healthz"), "HTTP/1.1 200");
  EXPECT_EQ(AskAdmin(cluster, stranger, stranger.network(), "/metrics"), "HTTP/1.1 403");
  const std::string folder = secrets_.FolderOf("c");
  SecureNetworkOptions secured;
  secured.tls = *TlsContext::Load(
      TlsUse::kNodes, {folder + "/node.crt", folder + "/node.key", folder + "/authority.crt"},
      [] { return WallTime{Start()}; });
  SecureNetwork https(stranger, secured);
  EXPECT_EQ(AskAdmin(cluster, stranger, https, "/metrics"), "HTTP/1.1 403");
  EXPECT_EQ(AskAdmin(cluster, stranger, https, "/metrics", kBearer), "HTTP/1.1 200");
}

TEST_F(NodeTlsTest, ANewCertificateIsTakenWithoutARestart) {
  secrets_.PutCertificate("s2", authority_, Certificate("s2", seconds(20)));
  SimulatedCluster cluster(OptionsOf(secrets_, true));
  secrets_.PutCertificate("s2", authority_, Certificate("s2", hours(20)));
  cluster.simulator().RunFor(seconds(30));
  const Status status = ConnectFrom(cluster, "s2", "s0");
  EXPECT_TRUE(status.ok()) << status;
}

TEST(NodeSecurityTest, WithoutItsKeyANodeDoesNotStart) {
  Secrets secrets;
  secrets.PutKeys(kOld);
  chmod((secrets.FolderOf("c") + "/cluster_key").c_str(), 0644);
  ClusterSpec spec = EchoSpec(1, 1);
  spec.set_cluster_key_file("cluster_key");
  Status outcome = Internal("no callback");
  SimulatedNodes nodes(
      {.make_options =
           [&](const std::string&) {
             return NodeOptions{
                 .spec = spec, .spec_directory = secrets.FolderOf("c"), .modules = MakeEcho};
           },
       .on_start = [&](const std::string&, const Status& status) { outcome = status; }});
  nodes.Add({.name = "c"});
  nodes.simulator().RunFor(seconds(1));
  EXPECT_EQ(outcome.code(), StatusCode::kFailedPrecondition) << outcome;
  EXPECT_NE(outcome.message().find("chmod 600"), absl::string_view::npos);
}

}  // namespace
}  // namespace neptune
