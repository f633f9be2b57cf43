// A node of the real world with a serving loop that hangs in a method: others stop calling it, its
// administration says so, and it returns once the method does.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "absl/synchronization/notification.h"
#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/testing/real_node.h"
#include "neptune/testing/simulated_cluster.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/http/http_fetch.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A short method that blocks its loop until the test releases it.
class BlockingModule final : public ServiceModule {
 public:
  explicit BlockingModule(absl::Notification& go_on) : go_on_(go_on) {}

  Status Start(ModuleContext& context) override {
    context.registrar.Method(MethodName("Block"), {}, [this](RequestContext&, const Data&, Data*) {
      go_on_.WaitForNotification();
      return OkStatus();
    });
    return OkStatus();
  }
  std::string implementation() const override { return "blocking"; }

 private:
  absl::Notification& go_on_;
};

class HungLoopTest : public testing::Test {
 protected:
  HungLoopTest() {
    const UniquePort port;
    ClusterSpec spec = EchoSpec(1, 1);
    spec.set_name(StrCat("test-", port.number()));
    spec.set_multicast_group(StrCat("239.192.7.2:", port.number()));
    spec.mutable_nodes(0)->set_serving_threads(2);
    spec.mutable_nodes(1)->set_serving_threads(2);
    for (const NodeSpec& node : spec.nodes()) {
      NodeOptions options;
      options.spec = spec;
      options.name = NodeId(node.name());
      options.modules = [this](const std::string&) -> StatusOr<std::unique_ptr<ServiceModule>> {
        return std::make_unique<BlockingModule>(go_on_);
      };
      nodes_[node.name()] = StartRealNode(std::move(options));
    }
  }
  ~HungLoopTest() override {
    if (!go_on_.HasBeenNotified()) go_on_.Notify();
  }

  Node& client() { return nodes_.at("c")->node(); }
  size_t ReplicaCount() {
    return client().View()->Replicas(ServiceName("echo"), PartitionId(0)).size();
  }
  void OnClient(std::function<void()> body) {
    Notification done;
    client().RunOnControl([&] {
      body();
      done.Notify();
    });
    done.WaitForNotification();
  }
  // Waits until that many nodes offer the service; returns the time that it took.
  Duration WaitForReplicas(size_t count) {
    Duration took{};
    OnClient([&] {
      const TimePoint start = this_thread::Now();
      while (ReplicaCount() != count && this_thread::Now() < start + seconds(30)) {
        this_thread::SleepFor(milliseconds(10));
      }
      took = this_thread::Now() - start;
    });
    return took;
  }
  void Block() {
    client().RunOnControl([this] {
      ClientSession session(client().client());
      Data response;
      (void)Call(
          session, {ServiceName("echo"), PartitionId(0), MethodName("Block"), AccessMode::kRead},
          Data(), &response, {.deadline = this_thread::Now() + seconds(1), .attempts_max = 1});
    });
  }
  HttpResponse Fetch(const std::string& page) {
    HttpResponse response;
    OnClient([&] {
      auto fetched = HttpFetch(nodes_.at("s0")->node().admin_endpoint(), page,
                               this_thread::Now() + seconds(10), 1 << 20);
      ASSERT_TRUE(fetched.ok()) << fetched.status();
      response = *std::move(fetched);
    });
    return response;
  }

  absl::Notification go_on_;
  std::map<std::string, std::unique_ptr<RealNode>> nodes_;
};

TEST_F(HungLoopTest, TheNodeWithdrawsWhileALoopHangsAndReturns) {
  WaitForReplicas(1);
  ASSERT_EQ(ReplicaCount(), 1u);
  EXPECT_EQ(Fetch("/healthz").status, 200);
  Block();
  // 2 s, and as much again because the machine may be busy.
  EXPECT_LT(WaitForReplicas(0), seconds(4));
  ASSERT_EQ(ReplicaCount(), 0u);
  for (const char* page : {"/healthz", "/readyz"}) {
    const HttpResponse response = Fetch(page);
    EXPECT_EQ(response.status, 503) << page;
    EXPECT_NE(response.body.find("loop serve-"), std::string::npos) << response.body;
    EXPECT_NE(response.body.find("has not answered for"), std::string::npos) << response.body;
  }
  EXPECT_NE(Fetch("/statusz?section=loops&format=json").body.find("stalled"), std::string::npos);
  EXPECT_NE(Fetch("/metrics").body.find("neptune_loop_stalled{loop=\"serve-"), std::string::npos);
  go_on_.Notify();
  WaitForReplicas(1);
  EXPECT_EQ(ReplicaCount(), 1u);
  EXPECT_EQ(Fetch("/healthz").status, 200);
  EXPECT_EQ(Fetch("/readyz").status, 200);
}

}  // namespace
}  // namespace neptune
