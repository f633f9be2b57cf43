// The main pool of a service: requests that wait for another service are outside of it, and no more
// than its size work at once.

#include "neptune/capsule/main_pool.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "neptune/base/strings.h"
#include "neptune/dac/dac.h"
#include "neptune/service/client_stream.h"
#include "neptune/testing/call_test_module.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kPoolSize = 2;
constexpr Duration kWork = milliseconds(1);

// What a request waits for.
enum class Dependency { kCall, kAggregation, kStream };

struct FrontRecord {
  int working = 0;
  int working_max = 0;
  std::vector<std::string> worked;  // what, in the order in which it ended
};

// Works, waits for about a second of service "echo", and works again; or works only.
class FrontModule final : public ServiceModule {
 public:
  FrontModule(Dependency dependency, bool waits_inside, FrontRecord* record)
      : dependency_(dependency), waits_inside_(waits_inside), record_(*record) {}

  Status Start(ModuleContext& context) override {
    context.registrar.Method(
        MethodName("Relay"), {.grain = Grain::kLong},
        [this, &context = context.client](RequestContext& request, const Data&, Data*) {
          Work(request, "before");
          ClientSession session(context, request);
          const Status status = waits_inside_ ? WaitInside(session, request.Now() + seconds(5))
                                              : Wait(session, request.Now() + seconds(5));
          Work(request, "after");
          return status;
        });
    context.registrar.Method(MethodName("Work"), {.grain = Grain::kLong},
                             [this](RequestContext& request, const Data&, Data*) {
                               Work(request, "only");
                               return OkStatus();
                             });
    context.registrar.Reduce(MethodName("AddNumbers"),
                             [](const Data& first, const Data&, const Data&, Data* result) {
                               *result = first;
                               return OkStatus();
                             });
    return OkStatus();
  }
  std::string implementation() const override { return "front"; }

 private:
  void Work(RequestContext& request, const std::string& what) {
    record_.working_max = std::max(record_.working_max, ++record_.working);
    this_thread::Consume(request.world().processors(), kWork);
    --record_.working;
    record_.worked.push_back(what);
  }

  Status Wait(ClientSession& session, TimePoint deadline) const {
    const ServiceName echo("echo");
    Data answer;
    if (dependency_ == Dependency::kCall) {
      return Call(session, {echo, PartitionId(0), MethodName("Doze"), AccessMode::kRead},
                  Data("1000"), &answer, {.deadline = deadline});
    }
    if (dependency_ == Dependency::kAggregation) {
      AggregationReport report;
      return Aggregate(session,
                       {.service = echo,
                        .partitions = {PartitionId(0)},
                        .local = MethodName("Doze"),
                        .reduce = MethodName("AddNumbers"),
                        .local_parameters = Data("1000"),
                        .deadline = deadline},
                       &answer, &report);
    }
    NEPTUNE_ASSIGN_OR_RETURN(
        auto stream, OpenStream(session, echo, PartitionId(0), MethodName("Hold"), Data("1000"),
                                {.deadline = deadline}));
    return stream->Finish();
  }

  // Waits like a method that does not know of the pool.
  Status WaitInside(ClientSession& session, TimePoint deadline) const {
    MainPoolPlace* const place = MainPoolPlace::Current();
    MainPoolPlace::SetCurrent(nullptr);
    const Status status = Wait(session, deadline);
    MainPoolPlace::SetCurrent(place);
    return status;
  }

  const Dependency dependency_;
  const bool waits_inside_;
  FrontRecord& record_;
};

class MainPoolTest : public testing::TestWithParam<Dependency> {
 protected:
  void Start(bool waits_inside = false) {
    SimulatedClusterOptions options;
    options.spec = EchoSpec(1, 1);
    ServiceSpec* const front = options.spec.add_services();
    front->set_name("front");
    front->set_module("front");
    front->set_concurrency(kPoolSize);
    NodeSpec* const node = options.spec.add_nodes();
    node->set_name("f");
    node->add_hosts()->set_service("front");
    ASSERT_TRUE(CompleteClusterSpec(&options.spec).ok());
    options.modules = [this, waits_inside, echo = CallTestModules(&hosts_)](
                          const std::string& name) -> StatusOr<std::unique_ptr<ServiceModule>> {
      if (name != "front") return echo(name);
      return std::make_unique<FrontModule>(GetParam(), waits_inside, &front_);
    };
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  }

  struct Outcome {
    bool done = false;
    Status status;
    Duration took{0};
  };
  std::unique_ptr<Outcome> Begin(const std::string& method) {
    auto outcome = std::make_unique<Outcome>();
    cluster_->SpawnOnClient([method, out = outcome.get()](ClientSession& session) {
      const TimePoint begin = this_thread::Now();
      Data answer;
      out->status = Call(
          session, {ServiceName("front"), PartitionId(0), MethodName(method), AccessMode::kRead},
          Data(), &answer, {.deadline = begin + seconds(10)});
      out->took = this_thread::Now() - begin;
      out->done = true;
    });
    return outcome;
  }
  std::vector<std::unique_ptr<Outcome>> BeginMany(const std::string& method, int count) {
    std::vector<std::unique_ptr<Outcome>> outcomes;
    for (int i = 0; i < count; ++i) outcomes.push_back(Begin(method));
    return outcomes;
  }
  void RunFor(Duration time) { cluster_->simulator().RunFor(time); }

  HostRecords hosts_;
  FrontRecord front_;
  std::unique_ptr<SimulatedCluster> cluster_;
};

TEST_P(MainPoolTest, RequestsThatWaitLeaveThePoolToOthers) {
  Start();
  const auto waiting = BeginMany("Relay", 10 * kPoolSize);
  RunFor(milliseconds(200));
  const auto other = Begin("Work");
  RunFor(milliseconds(100));
  ASSERT_TRUE(other->done);
  EXPECT_TRUE(other->status.ok()) << other->status;
  EXPECT_LT(other->took, 2 * kWork);
  RunFor(seconds(2));
  for (const auto& one : waiting) {
    ASSERT_TRUE(one->done);
    EXPECT_TRUE(one->status.ok()) << one->status;
  }
}

TEST_P(MainPoolTest, NoMoreWorkAtOnceThanThePoolHasPlaces) {
  Start();
  // All come back at the same time.
  const auto outcomes = BeginMany("Relay", 20);
  RunFor(seconds(3));
  for (const auto& one : outcomes) EXPECT_TRUE(one->done && one->status.ok()) << one->status;
  EXPECT_EQ(front_.working_max, kPoolSize);
}

TEST_P(MainPoolTest, WhoComesBackGoesBeforeWhoHasNotBegun) {
  Start();
  const auto outcomes = BeginMany("Relay", 8);
  RunFor(milliseconds(990));
  // The pool is busy and requests wait for it when the others come back.
  const auto others = BeginMany("Work", 40);
  RunFor(seconds(2));
  for (const auto& one : outcomes) EXPECT_TRUE(one->done && one->status.ok()) << one->status;
  for (const auto& one : others) EXPECT_TRUE(one->done && one->status.ok()) << one->status;
  const auto last_back = std::find(front_.worked.rbegin(), front_.worked.rend(), "after");
  EXPECT_GE(std::count(front_.worked.rbegin(), last_back, "only"), 8);
}

TEST_P(MainPoolTest, WaitingInsideHoldsThePool) {
  Start(/*waits_inside=*/true);
  const auto waiting = BeginMany("Relay", kPoolSize);
  RunFor(milliseconds(200));
  const auto other = Begin("Work");
  RunFor(milliseconds(500));
  EXPECT_FALSE(other->done);
  RunFor(seconds(1));
  EXPECT_TRUE(other->done && other->status.ok()) << other->status;
}

std::string NameOf(const testing::TestParamInfo<Dependency>& info) {
  switch (info.param) {
    case Dependency::kCall:
      return "Call";
    case Dependency::kAggregation:
      return "Aggregation";
    case Dependency::kStream:
      return "Stream";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(Dependencies, MainPoolTest,
                         testing::Values(Dependency::kCall, Dependency::kAggregation,
                                         Dependency::kStream),
                         NameOf);

}  // namespace
}  // namespace neptune
