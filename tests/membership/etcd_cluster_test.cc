// Whole nodes whose announcements go by way of a directory, in the simulated world.

#include <gtest/gtest.h>

#include "neptune/base/strings.h"
#include "neptune/testing/simulated_cluster.h"
#include "tests/membership/known_nodes.h"
#include "tests/membership/simulated_etcd.h"

namespace neptune {
namespace {

using std::chrono::seconds;

// The nodes' hosts come first, and the client's: the directory's is the next.
constexpr int kServerCount = 5;
const std::set<std::string> kAll = {"c", "s0", "s1", "s2", "s3", "s4"};

class EtcdClusterTest : public testing::Test {
 protected:
  static ClusterSpec Spec() {
    ClusterSpec spec = EchoSpec(kServerCount, 1);
    spec.clear_multicast_group();
    spec.mutable_membership()->set_directory("etcd");
    spec.mutable_membership()->add_etcd_endpoints(StrCat("10.0.0.", kServerCount + 2, ":2379"));
    const Status status = CompleteClusterSpec(&spec);
    EXPECT_TRUE(status.ok()) << status;
    return spec;
  }
  bool AllKnow(const std::set<std::string>& expected, Duration limit) {
    return neptune::AllKnow(cluster_, expected, limit);
  }
  // Makes many calls, none of which may fail.
  void CallMany() {
    cluster_.RunOnClient([&](ClientSession& session) {
      for (int i = 0; i < 50; ++i) {
        Data response;
        const Status answer = Call(
            session, {ServiceName("echo"), PartitionId(0), MethodName("Echo"), AccessMode::kRead},
            Data("hello"), &response, {.deadline = simulator().now() + seconds(2)});
        EXPECT_TRUE(answer.ok()) << answer;
      }
    });
  }
  Simulator& simulator() { return cluster_.simulator(); }

  SimulatedCluster cluster_{{.seed = 5, .spec = Spec()}};
};

TEST_F(EtcdClusterTest, NodesFindEachOtherOnceThereIsADirectoryAndOutliveIt) {
  for (const std::string& name : kAll) EXPECT_EQ(cluster_.KnownNodes(name).size(), 0u) << name;
  SimulatedEtcd etcd(simulator(), "etcd");
  ASSERT_EQ(etcd.endpoint().ToString(), StrCat("10.0.0.", kServerCount + 2, ":2379"));
  ASSERT_TRUE(AllKnow(kAll, seconds(7)));
  CallMany();

  // It is gone for two minutes: who lives stays, who dies goes.
  etcd.set_lie([](const HttpRequest&) { return HttpResponse::Text(503, "away"); });
  simulator().RunFor(seconds(60));
  EXPECT_TRUE(AllKnow(kAll, seconds(0)));
  CallMany();
  simulator().Crash("s1");
  EXPECT_TRUE(AllKnow({"c", "s0", "s2", "s3", "s4"}, seconds(8)));
  CallMany();
  simulator().RunFor(seconds(60));
  EXPECT_TRUE(AllKnow({"c", "s0", "s2", "s3", "s4"}, seconds(0)));

  // It is back, without its data, and a node comes back too.
  etcd.Empty();
  etcd.set_lie(nullptr);
  simulator().Restart("s1");
  EXPECT_TRUE(AllKnow(kAll, seconds(8)));
  CallMany();
}

TEST_F(EtcdClusterTest, LeavingNodeIsKnownToHaveLeftAtTheNextLookAndCostsNoCall) {
  SimulatedEtcd etcd(simulator(), "etcd");
  ASSERT_TRUE(AllKnow(kAll, seconds(7)));
  bool stopped = false;
  cluster_.node("s2").Stop(seconds(1), [&] { stopped = true; });
  CallMany();
  EXPECT_TRUE(AllKnow({"c", "s0", "s1", "s3", "s4"}, seconds(2)));
  EXPECT_TRUE(simulator().RunUntilTrue([&] { return stopped; }, simulator().now() + seconds(5)));
  simulator().Crash("s2", CrashKind::kProcess);
  CallMany();
}

}  // namespace
}  // namespace neptune
