// Long computations on whole nodes: shorter ones go first, none starves, and one whose caller is
// gone waits no more.

#include "neptune/service/long_work.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "neptune/base/strings.h"
#include "neptune/service/client.h"
#include "neptune/testing/call_test_module.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kStretch = microseconds(100);

struct ComputeRecord {
  Duration done{0};
  Duration gap_max{0};  // between two stretches
  bool stopped = false;
};

// Computes for the milliseconds that the request names, with a stop check after each stretch. The
// name of the computation follows, for the record.
class ComputeModule final : public ServiceModule {
 public:
  explicit ComputeModule(std::map<std::string, ComputeRecord>* records) : records_(*records) {}

  Status Start(ModuleContext& context) override {
    context.registrar.Method(MethodName("Compute"), {.grain = Grain::kLong},
                             [this](RequestContext& request, const Data& in, Data*) {
                               return Compute(request, in, nullptr);
                             });
    // Halfway it waits for a second for another service.
    context.registrar.Method(
        MethodName("Relay"), {.grain = Grain::kLong},
        [this, client = &context.client](RequestContext& request, const Data& in, Data*) {
          return Compute(request, in, client);
        });
    return OkStatus();
  }
  std::string implementation() const override { return "compute"; }

 private:
  Status Compute(RequestContext& request, const Data& in, Client* client) {
    const std::string text(in.bytes());
    const std::string::size_type blank = text.find(' ');
    const Duration whole = microseconds(std::stoll(text.substr(0, blank)));
    ComputeRecord& record = records_[text.substr(blank + 1)];
    request.ExpectWork(static_cast<uint64_t>(whole / kStretch));
    TimePoint last = request.Now();
    while (record.done < whole) {
      if (request.ShouldStop()) {
        record.stopped = true;
        return Cancelled("stopped");
      }
      this_thread::Consume(request.world().processors(), kStretch);
      record.done += kStretch;
      record.gap_max = std::max(record.gap_max, request.Now() - last - kStretch);
      last = request.Now();
      if (client != nullptr && record.done == whole / 2) Doze(*client, request);
      request.GiveWay(1);
    }
    return OkStatus();
  }

  static void Doze(Client& client, const RequestContext& request) {
    ClientSession session(client, request);
    Data answer;
    (void)Call(session, {ServiceName("echo"), PartitionId(0), MethodName("Doze")}, Data("1000"),
               &answer, {.deadline = request.Now() + seconds(5)});
  }

  std::map<std::string, ComputeRecord>& records_;
};

// The parameter: the serving threads work.
class LongWorkTest : public testing::TestWithParam<bool> {
 protected:
  void Start(int threads, uint32_t concurrency = 8) {
    SimulatedClusterOptions options;
    options.spec = EchoSpec(1, 1);
    ServiceSpec* const service = options.spec.add_services();
    service->set_name("compute");
    service->set_module("compute");
    service->set_concurrency(concurrency);
    NodeSpec* const node = options.spec.add_nodes();
    node->set_name("n");
    node->set_serving_threads_work(GetParam());
    if (GetParam()) {
      node->set_serving_threads(static_cast<uint32_t>(threads));
    } else {
      node->set_worker_threads(static_cast<uint32_t>(threads));
    }
    node->add_hosts()->set_service("compute");
    ASSERT_TRUE(CompleteClusterSpec(&options.spec).ok());
    options.modules = [this, echo = CallTestModules(&hosts_)](
                          const std::string& name) -> StatusOr<std::unique_ptr<ServiceModule>> {
      if (name != "compute") return echo(name);
      return std::make_unique<ComputeModule>(&records_);
    };
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  }

  struct Outcome {
    bool done = false;
    Status status;
    Duration took{0};
  };
  std::shared_ptr<Outcome> Begin(const std::string& name, Duration work,
                                 Duration timeout = seconds(20),
                                 const std::string& method = "Compute") {
    auto outcome = std::make_shared<Outcome>();
    cluster_->SpawnOnClient([=, this](ClientSession& session) {
      const TimePoint begin = this_thread::Now();
      Data answer;
      outcome->status = Call(
          session, {ServiceName("compute"), PartitionId(0), MethodName(method), AccessMode::kRead},
          Data(StrCat(ToMicros(work), " ", name)), &answer,
          {.deadline = begin + timeout, .attempts_max = 1});
      outcome->took = this_thread::Now() - begin;
      outcome->done = true;
    });
    return outcome;
  }
  void RunFor(Duration time) { cluster_->simulator().RunFor(time); }

  HostRecords hosts_;
  std::map<std::string, ComputeRecord> records_;
  std::unique_ptr<SimulatedCluster> cluster_;
};

// The calls' way there and back.
constexpr Duration kTransit = milliseconds(2);

INSTANTIATE_TEST_SUITE_P(, LongWorkTest, testing::Bool(), [](const auto& on) {
  return on.param ? "ServingThreads" : "WorkerThreads";
});

TEST_P(LongWorkTest, OneAfterTheOtherAndTheShortestFirst) {
  Start(1);
  const auto longest = Begin("longest", milliseconds(120));
  RunFor(milliseconds(10));
  const auto longer = Begin("longer", milliseconds(60));
  const auto shortest = Begin("shortest", microseconds(500));
  RunFor(seconds(1));
  EXPECT_TRUE(longest->status.ok() && longer->status.ok() && shortest->status.ok());
  EXPECT_LE(shortest->took, kTransit + milliseconds(1));
  // Meanwhile the longest has a slice of 1 ms for every 20 ms that it waits.
  EXPECT_LE(longer->took, milliseconds(60 + 4) + kTransit);
  EXPECT_GE(longest->took, milliseconds(180));
  EXPECT_LE(longest->took, milliseconds(182) + kTransit);
}

TEST_P(LongWorkTest, EqualOnesRunOneAfterTheOther) {
  Start(1);
  const auto first = Begin("first", milliseconds(15));
  const auto second = Begin("second", milliseconds(15));
  RunFor(seconds(1));
  EXPECT_LE(std::min(first->took, second->took), milliseconds(16) + kTransit);
  EXPECT_GE(std::max(first->took, second->took), milliseconds(30));
}

TEST_P(LongWorkTest, NoneStarves) {
  Start(1);
  const auto longest = Begin("longest", milliseconds(20));
  RunFor(milliseconds(5));
  // Short ones take all of the loop's time and more.
  for (int i = 0; i < 1000; ++i) {
    Begin(StrCat("short ", i), microseconds(500));
    RunFor(microseconds(450));
  }
  EXPECT_TRUE(longest->done);
  EXPECT_GE(records_.at("longest").gap_max, milliseconds(10)) << "it was interrupted";
  EXPECT_LE(records_.at("longest").gap_max, milliseconds(20 + 8));
}

TEST_P(LongWorkTest, OneWhoseCallerIsGoneWaitsNoMore) {
  Start(1);
  const auto shorter = Begin("shorter", milliseconds(100));
  RunFor(milliseconds(3));
  const auto gone = Begin("gone", seconds(2), milliseconds(10));
  RunFor(milliseconds(20));
  EXPECT_TRUE(gone->done);
  EXPECT_TRUE(records_.at("gone").stopped);
  EXPECT_LE(records_.at("gone").done, milliseconds(1));
  RunFor(seconds(1));
  EXPECT_TRUE(shorter->status.ok()) << shorter->status;
  EXPECT_LE(shorter->took, milliseconds(102) + kTransit);
}

TEST_P(LongWorkTest, OneThatWaitsForAnotherServiceHasNoTurn) {
  Start(1);
  const auto relay = Begin("relay", milliseconds(4), seconds(20), "Relay");
  RunFor(milliseconds(20));
  EXPECT_EQ(records_.at("relay").done, milliseconds(2));
  const auto other = Begin("other", milliseconds(100));
  RunFor(milliseconds(150));
  EXPECT_TRUE(other->done);
  RunFor(seconds(2));
  EXPECT_TRUE(relay->status.ok()) << relay->status;
}

TEST_P(LongWorkTest, EachWorkerLoopHasATurn) {
  Start(2);
  const auto first = Begin("first", milliseconds(50));
  const auto second = Begin("second", milliseconds(50));
  RunFor(seconds(1));
  EXPECT_LE(std::max(first->took, second->took), milliseconds(51) + kTransit);
}

TEST_P(LongWorkTest, NoMoreHaveBegunThanThePoolHasPlaces) {
  Start(1, /*concurrency=*/3);
  for (int i = 0; i < 10; ++i) Begin(StrCat("long ", i), milliseconds(50));
  RunFor(milliseconds(25));
  EXPECT_EQ(records_.size(), 3u);
  RunFor(seconds(1));
  EXPECT_EQ(records_.size(), 10u);
}

}  // namespace
}  // namespace neptune
