// Calls of a node to services of its own: they take no connection, and otherwise end, wait, are
// cancelled and are bounded as calls between nodes.

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/dac/dac.h"
#include "neptune/service/client_stream.h"
#include "neptune/service/loop_client.h"
#include "neptune/service/node_loops.h"
#include "neptune/testing/call_test_module.h"
#include "neptune/testing/real_node.h"
#include "neptune/testing/simulated_cluster.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ServiceName kEcho("echo");

size_t ConnectionCount(Node& node) {
  size_t count = 0;
  for (const auto& loop : node.loops().all()) {
    count += loop->client->connections().connection_count();
  }
  return count;
}

// Methods besides those of CallTestModules:
//   Recurse  short  calls itself on this node, for ever
//   Here     short, never parks  whether it runs on a user-level thread
//   Trap     short, says that it never parks, and waits
class LocalModule final : public ServiceModule {
 public:
  explicit LocalModule(std::unique_ptr<ServiceModule> inner) : inner_(std::move(inner)) {}

  Status Start(ModuleContext& context) override {
    NEPTUNE_RETURN_IF_ERROR(inner_->Start(context));
    ServiceRegistrar& registrar = context.registrar;
    registrar.Method(
        MethodName("Recurse"), {},
        [&client = context.client](RequestContext& request, const Data& depth, Data* response) {
          ClientSession session(client, request);
          const int below = std::stoi(depth.bytes()) + 1;
          *response = Data(StrCat(below));
          const Status status =
              Call(session, {kEcho, request.partition(), MethodName("Recurse"), AccessMode::kRead},
                   Data(StrCat(below)), response);
          return status.ok() ? status : Aborted("at depth ", below);
        });
    registrar.Method(MethodName("Here"), {.parks = false},
                     [](RequestContext&, const Data&, Data* response) {
                       *response = Data(UserThread::Current() == nullptr ? "handler" : "thread");
                       return OkStatus();
                     });
    registrar.Method(MethodName("Trap"), {.parks = false}, [](RequestContext&, const Data&, Data*) {
      this_thread::SleepFor(milliseconds(1));
      return OkStatus();
    });
    return OkStatus();
  }
  std::string implementation() const override { return "local"; }
  void Stop() override { inner_->Stop(); }

 private:
  const std::unique_ptr<ServiceModule> inner_;
};

class LocalCallsTest : public testing::Test {
 protected:
  // Nodes s0, s1, ... that all have every partition.
  void Start(int node_count, int partition_count = 1, const std::string& echo_fields = "") {
    spec_ = EchoSpec(node_count, partition_count, echo_fields);
    for (NodeSpec& node : *spec_.mutable_nodes()) {
      for (HostedServiceSpec& hosted : *node.mutable_hosts()) {
        if (hosted.service() != "echo") continue;
        hosted.clear_partitions();
        for (int p = 0; p < partition_count; ++p) hosted.add_partitions(static_cast<uint32_t>(p));
      }
    }
    for (NodeSpec& node : *spec_.mutable_nodes()) {
      if (capsule_.empty()) break;
      CapsuleSpec& capsule = *node.add_capsules();
      capsule.set_name("bounded");
      capsule.add_match(capsule_);
      capsule.set_resident_count_max(500);
    }
    spec_.set_balancing("probe_pool");
    const ModuleFactory inner = CallTestModules(&records_);
    cluster_ = std::make_unique<SimulatedCluster>(SimulatedClusterOptions{
        .spec = spec_,
        .modules = [inner](const std::string& name) -> StatusOr<std::unique_ptr<ServiceModule>> {
          NEPTUNE_ASSIGN_OR_RETURN(auto module, inner(name));
          return std::make_unique<LocalModule>(std::move(module));
        }});
  }
  Simulator& simulator() { return cluster_->simulator(); }
  Node& node(const std::string& name = "s0") { return cluster_->node(name); }

  // Starts `body` on a user-level thread of s0's control loop.
  void Spawn(std::function<void(ClientSession&)> body) {
    node().RunOnControl([this, body = std::move(body)] {
      ClientSession session(node().client());
      body(session);
    });
  }
  void Run(std::function<void(ClientSession&)> body, Duration limit = seconds(60)) {
    bool done = false;
    Spawn([&](ClientSession& session) {
      body(session);
      done = true;
    });
    EXPECT_TRUE(simulator().RunUntilTrue([&] { return done; }, simulator().now() + limit));
  }
  static Status CallOnce(ClientSession& session, const std::string& method,
                         const std::string& request, Data* response, Duration timeout = seconds(5),
                         CallReport* report = nullptr) {
    return Call(session, {kEcho, PartitionId(0), MethodName(method), AccessMode::kRead},
                Data(request), response, {.deadline = this_thread::Now() + timeout}, report);
  }

  HostRecords records_;
  std::string capsule_;  // rule of a capsule of 500 calls; empty: only the default one
  ClusterSpec spec_;
  std::unique_ptr<SimulatedCluster> cluster_;
};

TEST_F(LocalCallsTest, TakeNoConnection) {
  Start(1);
  Data response;
  CallReport report;
  Run([&](ClientSession& session) {
    EXPECT_TRUE(CallOnce(session, "Name", "", &response, seconds(5), &report).ok());
  });
  EXPECT_EQ(response.bytes(), "s0");
  EXPECT_EQ(report.server, NodeId("s0"));
  EXPECT_EQ(report.attempts, 1);
  EXPECT_EQ(ConnectionCount(node()), 0u);
  EXPECT_EQ(*node().metrics().Value("neptune_requests_total",
                                    {{"service", "echo"}, {"method", "Name"}, {"outcome", "ok"}}),
            1);
  EXPECT_EQ(*node().metrics().Value("neptune_calls_total",
                                    {{"service", "echo"}, {"method", "Name"}, {"outcome", "ok"}}),
            1);
}

TEST_F(LocalCallsTest, AggregationsAndStreamsTakeNoConnection) {
  Start(1, 4);
  Data sum;
  int messages = 0;
  Run([&](ClientSession& session) {
    AggregationRequest request;
    request.service = kEcho;
    for (uint32_t p = 0; p < 4; ++p) request.partitions.emplace_back(p);
    request.local = MethodName("Sum");
    request.reduce = MethodName("AddNumbers");
    request.deadline = this_thread::Now() + seconds(5);
    AggregationReport report;
    const Status status = Aggregate(session, request, &sum, &report);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(report.quality(), 1);
    auto stream = OpenStream(session, kEcho, PartitionId(0), MethodName("CountUp"), Data("20000"));
    ASSERT_TRUE(stream.ok()) << stream.status();
    for (auto message = (*stream)->Read(); message.ok() && message->has_value();
         message = (*stream)->Read()) {
      EXPECT_EQ((*message)->bytes(), StrCat(messages));
      ++messages;
    }
    EXPECT_TRUE((*stream)->Finish().ok());
  });
  EXPECT_EQ(messages, 20000);
  EXPECT_EQ(ConnectionCount(node()), 0u);
}

TEST_F(LocalCallsTest, EndAtTheirDeadlineAndStopTheWork) {
  Start(1);
  Duration took{0};
  Status status;
  Run([&](ClientSession& session) {
    Data response;
    const TimePoint begin = this_thread::Now();
    status = CallOnce(session, "Wait", "", &response, milliseconds(50));
    took = this_thread::Now() - begin;
  });
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status;
  EXPECT_LE(took, milliseconds(51));
  simulator().RunFor(milliseconds(10));
  EXPECT_EQ(records_["s0"].running, 0);
  EXPECT_EQ(node().LoadIndex(), 0u);
}

// The caller of a method that calls its own node is gone; so is what that call does.
TEST_F(LocalCallsTest, AreCancelledWithTheRequestThatMakesThem) {
  Start(1);
  cluster_->SpawnOnClient([](ClientSession& session) {
    Data response;
    (void)CallOnce(session, "Relay", "", &response, milliseconds(100));
  });
  simulator().RunFor(milliseconds(50));
  EXPECT_EQ(records_["s0"].running, 1);
  simulator().RunFor(milliseconds(60));
  EXPECT_EQ(records_["s0"].running, 0);
  EXPECT_EQ(records_["s0"].stop_count, 1);
}

TEST_F(LocalCallsTest, FinishWhileTheNodeDrains) {
  Start(1);
  Status status = Unavailable("not done");
  Data response;
  Spawn([&](ClientSession& session) { status = CallOnce(session, "Sleep", "400", &response); });
  simulator().RunFor(milliseconds(50));
  bool stopped = false;
  node().Stop(seconds(5), [&] { stopped = true; });
  simulator().RunFor(milliseconds(200));
  EXPECT_FALSE(stopped);
  EXPECT_TRUE(simulator().RunUntilTrue([&] { return stopped; }, simulator().now() + seconds(3)));
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(records_["s0"].running_at_module_stop, 0);
}

TEST_F(LocalCallsTest, ThatNeverEndAreEndedByTheStop) {
  Start(1);
  Status status;
  Data response;
  Spawn([&](ClientSession& session) {
    status = CallOnce(session, "Wait", "", &response, std::chrono::minutes(10));
  });
  simulator().RunFor(milliseconds(50));
  bool stopped = false;
  node().Stop(milliseconds(300), [&] { stopped = true; });
  EXPECT_TRUE(simulator().RunUntilTrue([&] { return stopped; }, simulator().now() + seconds(5)));
  EXPECT_EQ(status.code(), StatusCode::kCancelled) << status;
  EXPECT_EQ(records_["s0"].running, 0);
}

// Each call of a method that calls itself has a thread and a place in a capsule, whose bound ends
// the recursion; everything that was begun ends with it.
TEST_F(LocalCallsTest, MethodThatCallsItselfForEverIsBounded) {
  capsule_ = "service:echo";
  Start(1);
  Status status;
  Run([&](ClientSession& session) {
    Data response;
    status = CallOnce(session, "Recurse", "0", &response, seconds(1));
  });
  EXPECT_EQ(status.code(), StatusCode::kAborted) << status;
  simulator().RunFor(seconds(1));
  EXPECT_EQ(node().LoadIndex(), 0u);
  Data response;
  Run([&](ClientSession& session) {
    EXPECT_TRUE(CallOnce(session, "Name", "", &response).ok()) << "the node works on";
  });
}

TEST_F(LocalCallsTest, HungServingLoopHoldsUpItsCallsOnly) {
  Start(1);
  simulator().host("s0").SetLoopHanging("serve-0", true);
  Status status;
  Duration took{0};
  Run([&](ClientSession& session) {
    Data response;
    const TimePoint begin = this_thread::Now();
    status = CallOnce(session, "Name", "", &response, milliseconds(100));
    took = this_thread::Now() - begin;
  });
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status;
  EXPECT_LE(took, milliseconds(101));
  simulator().host("s0").SetLoopHanging("serve-0", false);
  simulator().RunFor(milliseconds(10));
  EXPECT_EQ(records_["s0"].begun, 0) << "the request was cancelled before it began";
}

TEST_F(LocalCallsTest, GoElsewhereWhenTheOwnServiceRefuses) {
  Start(2);
  records_["s0"].refuses = true;
  for (int i = 0; i < 10; ++i) {
    Data response;
    Run([&](ClientSession& session) {
      const Status status = CallOnce(session, "Name", "", &response);
      EXPECT_TRUE(status.ok()) << status;
    });
    EXPECT_EQ(response.bytes(), "s1");
  }
}

TEST_F(LocalCallsTest, MethodThatNeverParksRunsInTheHandler) {
  Start(1);
  Data response;
  Run([&](ClientSession& session) { EXPECT_TRUE(CallOnce(session, "Here", "", &response).ok()); });
  EXPECT_EQ(response.bytes(), "handler");
}

using LocalCallsDeathTest = LocalCallsTest;

TEST_F(LocalCallsDeathTest, WaitInAMethodThatSaysItNeverParksEndsTheProgram) {
  Start(1);
  EXPECT_DEATH(Run([&](ClientSession& session) {
                 Data response;
                 (void)CallOnce(session, "Trap", "", &response);
               }),
               "waiting outside a user-level thread");
}

// The servers that the requests of one caller go to, and how long they take.
struct Spread {
  std::map<std::string, int> served;
  double mean_ms = 0;
};

class LocalPreferenceTest : public LocalCallsTest {
 protected:
  static constexpr int kCallCount = 3000;
  static constexpr Duration kWork = milliseconds(5);

  Spread Offer(const std::string& caller, double load) {
    Start(3, 1, "concurrency: 1 queue_length_max: 1000");
    Spread spread;
    double sum_ms = 0;
    int left = kCallCount;
    Node& from = node(caller);
    from.RunOnControl([&] {
      RandomSource& random = Loop::Current()->random();
      const double mean_gap_ns = static_cast<double>(kWork.count()) / 3 / load;
      for (int i = 0; i < kCallCount; ++i) {
        const double gap = -std::log(1 - random.Uniform()) * mean_gap_ns;
        this_thread::SleepFor(Duration(static_cast<int64_t>(gap)));
        const auto started = ThreadScheduler::Current()->Spawn([&] {
          ClientSession session(from.client());
          Data response;
          CallReport report;
          const TimePoint begin = this_thread::Now();
          const Status status = CallOnce(session, "Work", "5000", &response, seconds(30), &report);
          EXPECT_TRUE(status.ok()) << status;
          sum_ms += ToMillis(this_thread::Now() - begin);
          ++spread.served[report.server.value()];
          --left;
        });
        ASSERT_TRUE(started.ok());
      }
    });
    EXPECT_TRUE(
        simulator().RunUntilTrue([&] { return left == 0; }, simulator().now() + seconds(60)));
    spread.mean_ms = sum_ms / kCallCount;
    return spread;
  }
};

// One node gets all requests from outside. Compared with a caller that has no service of its own,
// its calls wait no longer.
TEST_F(LocalPreferenceTest, ChoosesTheOwnNodeWithoutOverloadingIt) {
  for (const double load : {0.2, 0.7}) {
    const Spread own = Offer("s0", load);
    const Spread foreign = Offer("c", load);
    std::printf(
        "load %.1f: own node %.2f ms, %d of %d calls at home; no service of its own %.2f ms\n",
        load, own.mean_ms, own.served.at("s0"), kCallCount, foreign.mean_ms);
    EXPECT_GT(own.served.at("s0"), kCallCount / 3) << "at load " << load;
    EXPECT_LT(own.mean_ms, foreign.mean_ms * 1.1) << "at load " << load;
    if (load < 0.5) continue;
    for (const auto& [name, count] : own.served) EXPECT_GT(count, kCallCount / 5) << name;
  }
}

// On kernel threads: many callers on all loops of a node with two serving and two working loops.
TEST(LocalCallsRealTest, CrossLoops) {
  const UniquePort port;
  ClusterSpec spec = EchoSpec(1, 2);
  spec.set_name(StrCat("local-", port.number()));
  spec.set_multicast_group(StrCat("239.192.7.8:", port.number()));
  for (NodeSpec& node : *spec.mutable_nodes()) {
    node.set_serving_threads(2);
    node.set_worker_threads(2);
  }
  NodeOptions options;
  options.spec = spec;
  options.name = NodeId("s0");
  options.modules = MakeEcho;
  const auto real = StartRealNode(std::move(options));
  Node& node = real->node();
  real->Run([&] {
    while (node.client().View()->Replicas(kEcho, PartitionId(1)).empty()) {
      this_thread::SleepFor(milliseconds(1));
    }
  });
  constexpr int kThreadCount = 8;
  std::atomic<int> good_count{0};
  std::atomic<int> left{0};
  Notification done;
  const auto& loops = node.loops().all();
  left = kThreadCount * static_cast<int>(loops.size());
  for (const auto& loop : loops) {
    loop->loop->Post([&, &loop = *loop] {
      for (int i = 0; i < kThreadCount; ++i) {
        const auto started = loop.scheduler->Spawn([&] {
          ClientSession session(node.client());
          for (int call = 0; call < 200; ++call) {
            const std::string text = StrCat("text ", call);
            Data response;
            const Status status =
                Call(session, {kEcho, PartitionId(call % 2 == 0 ? 0u : 1u), MethodName("Echo")},
                     Data(text), &response);
            if (status.ok() && response.bytes() == text) ++good_count;
          }
          if (--left == 0) done.Notify();
        });
        CHECK(started.ok());
      }
    });
  }
  done.WaitForNotification();
  EXPECT_EQ(good_count, kThreadCount * 200 * static_cast<int>(loops.size()));
  for (const auto& loop : loops) {
    Notification counted;
    loop->loop->Post([&, &loop = *loop] {
      EXPECT_EQ(loop.client->connections().connection_count(), 0u) << loop.name;
      counted.Notify();
    });
    counted.WaitForNotification();
  }
}

}  // namespace
}  // namespace neptune
