// Handlers that really run, in the real world: what stops those that ask, and those that only
// compute and never ask.

#include "neptune/service/compute.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "neptune/base/notification.h"
#include "neptune/base/strings.h"
#include "neptune/base/unique_port.h"
#include "neptune/dac/dac.h"
#include "neptune/service/client.h"
#include "neptune/testing/real_node.h"
#include "neptune/thread/synchronization.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kPatience = seconds(50);

struct Record {
  std::atomic<int> begun{0};
  std::atomic<int> stopped{0};  // stopped, or interrupted
};

// Long methods. Spin and Ask run until they have to stop. SpinOrRefuse and AskOrRefuse do so in
// partition 0, and refuse in partition 1 once that has begun.
class ComputeModule final : public ServiceModule {
 public:
  explicit ComputeModule(Record& record) : record_(record) {}

  Status Start(ModuleContext& context) override {
    const MethodOptions options{.grain = Grain::kLong};
    ServiceRegistrar& registrar = context.registrar;
    const auto add = [&](const char* name, auto method) {
      registrar.Method(MethodName(name), options,
                       [method](RequestContext& request, const Data&, Data* response) {
                         *response = Data("1");
                         return method(request);
                       });
    };
    const auto spin = [this](RequestContext& request) { return Spin(request); };
    const auto ask = [this](RequestContext& request) { return Ask(request); };
    add("Echo", [](RequestContext&) { return OkStatus(); });
    add("Spin", spin);
    add("Ask", ask);
    add("SpinOrRefuse", [=, this](RequestContext& r) { return OrRefuse(r, spin); });
    add("AskOrRefuse", [=, this](RequestContext& r) { return OrRefuse(r, ask); });
    registrar.Reduce(MethodName("Any"), [](const Data& first, const Data&, const Data&, Data* out) {
      *out = first;
      return OkStatus();
    });
    return OkStatus();
  }
  std::string implementation() const override { return "compute"; }

 private:
  Status Spin(RequestContext& request) {
    ++record_.begun;
    volatile uint64_t steps = 0;
    const bool done = Compute(request, [&](ComputeMemory&) {
      while (true) steps = steps + 1;
    });
    ++record_.stopped;
    return done || steps == 0 ? Internal("an endless loop ended") : DeadlineExceeded("stopped");
  }
  Status Ask(RequestContext& request) {
    ++record_.begun;
    while (!request.ShouldStop()) {
    }
    ++record_.stopped;
    return DeadlineExceeded("stopped");
  }
  template <typename Method>
  Status OrRefuse(RequestContext& request, Method method) {
    if (request.partition() == PartitionId(0)) return method(request);
    while (record_.begun == 0) this_thread::SleepFor(milliseconds(1));
    return Unavailable("refused");
  }

  Record& record_;
};

constexpr char kSpec[] = R"(
  announce_interval_ms: 50
  services { name: 'compute' module: 'compute' partition_count: 2 $LIMIT }
  nodes { name: 's0' hosts { service: 'compute' partitions: 0 } }
  nodes { name: 's1' hosts { service: 'compute' partitions: 1 } }
  nodes { name: 'c' hosts { service: 'other' } }
  services { name: 'other' module: 'compute' }
)";

class ComputeTest : public testing::Test {
 protected:
  void Start(const std::string& limit = "") {
    nodes_.clear();
    std::string text = StrCat("name: 'compute-", port_.number(),
                              "' multicast_group: '239.192.7.3:", port_.number(), "' ", kSpec);
    text.replace(text.find("$LIMIT"), 6, limit);
    const ClusterSpec spec = ParseClusterSpec(text, "test").value();
    for (const char* name : {"s0", "s1", "c"}) StartNode(spec, name);
  }

  // On a user-level thread of the client, once it knows both servers.
  void OnClient(const std::function<void(ClientSession&)>& body) {
    Notification done;
    Node& client = nodes_.at("c")->node();
    client.RunOnControl([&] {
      AwaitServers();
      ClientSession session(client.client());
      body(session);
      done.Notify();
    });
    done.WaitForNotification();
  }
  // On a machine that is busy with other work a server may be excluded for a moment.
  void AwaitServers() {
    for (const uint32_t p : {0u, 1u}) {
      while (
          nodes_.at("c")->node().View()->Replicas(ServiceName("compute"), PartitionId(p)).empty()) {
        this_thread::SleepFor(milliseconds(10));
      }
    }
  }
  Status CallFirst(ClientSession& session, const char* method, Duration timeout) {
    AwaitServers();
    Data response;
    return Call(session,
                {ServiceName("compute"), PartitionId(0), MethodName(method), AccessMode::kRead},
                Data("x"), &response, {.deadline = this_thread::Now() + timeout});
  }
  Status AggregateBoth(ClientSession& session, const char* method) {
    AwaitServers();
    AggregationRequest request;
    request.service = ServiceName("compute");
    request.partitions = {PartitionId(0), PartitionId(1)};
    request.local = MethodName(method);
    request.reduce = MethodName("Any");
    request.deadline = this_thread::Now() + kPatience;
    request.aggregation_quality_min = 1;
    Data result;
    AggregationReport report;
    return Aggregate(session, request, &result, &report);
  }
  void AwaitStopped(int count) {
    while (record_.stopped < count) this_thread::SleepFor(milliseconds(1));
  }

  Record record_;

 private:
  void StartNode(const ClusterSpec& spec, const std::string& name) {
    NodeOptions options;
    options.spec = spec;
    options.name = NodeId(name);
    options.with_admin = false;
    options.modules = [this](const std::string&) -> StatusOr<std::unique_ptr<ServiceModule>> {
      return std::make_unique<ComputeModule>(record_);
    };
    nodes_[name] = StartRealNode(std::move(options));
  }

  const UniquePort port_;
  std::map<std::string, std::unique_ptr<RealNode>> nodes_;
};

TEST_F(ComputeTest, ItsDeadlineEndsCodeThatNeverAsks) {
  Start();
  OnClient([&](ClientSession& session) {
    // One may not begin in time on a machine that is busy with other work.
    while (record_.begun < 3) {
      const int begun = record_.begun;
      const StatusCode code = CallFirst(session, "Spin", milliseconds(100)).code();
      if (record_.begun == begun) continue;
      EXPECT_EQ(code, StatusCode::kDeadlineExceeded);
    }
    EXPECT_TRUE(CallFirst(session, "Echo", kPatience).ok()) << "its worker is free again";
    EXPECT_EQ(record_.stopped, record_.begun);
  });
}

TEST_F(ComputeTest, CancellationDownTheTreeReachesCodeThatNeverAsks) {
  Start();
  OnClient([&](ClientSession& session) {
    while (record_.begun == 0) {
      EXPECT_EQ(AggregateBoth(session, "SpinOrRefuse").code(), StatusCode::kUnavailable);
    }
    AwaitStopped(1);
    EXPECT_TRUE(CallFirst(session, "Echo", kPatience).ok());
  });
}

TEST_F(ComputeTest, CancellationDownTheTreeReachesCodeThatAsks) {
  Start();
  OnClient([&](ClientSession& session) {
    while (record_.begun == 0) {
      EXPECT_EQ(AggregateBoth(session, "AskOrRefuse").code(), StatusCode::kUnavailable);
    }
    AwaitStopped(1);
    EXPECT_TRUE(CallFirst(session, "Echo", kPatience).ok());
  });
}

// The one that waits is in no queue: the worker loop that it was given to is at work.
TEST_F(ComputeTest, OneThatWaitsBehindItEndsIt) {
  for (const char* method : {"Spin", "Ask"}) {
    record_.begun = 0;
    if (method == std::string("Spin")) {
      Start("time_limit { lower_bound_ms: 10 upper_bound_ms: 1000000 wait_goal_ms: 10 }");
    }
    OnClient([&](ClientSession& session) {
      Status spun = Unavailable("not done");
      OneShotEvent done;
      const auto spinner = ThreadScheduler::Current()->Spawn([&] {
        ClientSession own(session.client());
        spun = CallFirst(own, method, kPatience);
        done.Set();
      });
      ASSERT_TRUE(spinner.ok());
      while (record_.begun == 0) this_thread::SleepFor(milliseconds(1));
      EXPECT_TRUE(CallFirst(session, "Echo", kPatience).ok()) << method;
      done.Wait();
      EXPECT_EQ(spun.code(), StatusCode::kDeadlineExceeded) << spun;
      EXPECT_NE(spun.message().find("ended early"), absl::string_view::npos) << spun;
    });
  }
}

}  // namespace
}  // namespace neptune
