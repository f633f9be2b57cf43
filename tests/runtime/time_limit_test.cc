// Requests of a service that limits their time: those that wait, those that work, and those that
// may not be ended.

#include "neptune/sert/time_limit.h"

#include <glog/logging.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/node/cluster_spec.h"
#include "neptune/service/client.h"
#include "neptune/testing/call_test_module.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kLimit[] =
    "time_limit { lower_bound_ms: 100 upper_bound_ms: 5000 high_watermark: 0.2 window_ms: 2000 "
    "wait_goal_ms: 3600000 }";  // follows the loss alone

class TimeLimitTest : public testing::Test {
 protected:
  void Start(const std::string& echo_fields, int node_count = 1, const std::string& capsules = "") {
    SimulatedClusterOptions options;
    options.spec = EchoSpec(node_count, node_count, echo_fields);
    CHECK(google::protobuf::TextFormat::MergeFromString(capsules, &options.spec)) << capsules;
    options.modules = CallTestModules(&records_);
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  }

  struct Outcome {
    Status status = Unavailable("not done");
    CallReport report;
    Duration took{0};
    bool done = false;
  };
  std::unique_ptr<Outcome> Begin(const std::string& method, const std::string& text = "",
                                 AccessMode access = AccessMode::kRead,
                                 Duration timeout = seconds(30)) {
    auto outcome = std::make_unique<Outcome>();
    cluster_->SpawnOnClient([=, this, out = outcome.get()](ClientSession& session) {
      const TimePoint begin = this_thread::Now();
      session.SetWaited(waited_);
      Data response;
      out->status = Call(session, {ServiceName("echo"), PartitionId(0), MethodName(method), access},
                         Data(text), &response, {.deadline = begin + timeout}, &out->report);
      out->took = this_thread::Now() - begin;
      out->done = true;
    });
    cluster_->simulator().RunFor(milliseconds(1));
    return outcome;
  }
  void RunFor(Duration time) { cluster_->simulator().RunFor(time); }
  int64_t Metric(const std::string& name, const std::string& method) {
    return *cluster_->node("s0").metrics().Value(name, {{"service", "echo"}, {"method", method}});
  }

  int64_t Released(const std::string& held) {
    return *cluster_->node("s0").metrics().Value("neptune_ended_early_released_total",
                                                 {{"service", "echo"}, {"held", held}});
  }
  size_t ResidentCount(const std::string& capsule) {
    return cluster_->node("s0")
        .capsules()
        .Named(capsule)
        ->Inspect(cluster_->simulator().now())
        .control.resident_count;
  }

  HostRecords records_;
  std::unique_ptr<SimulatedCluster> cluster_;
  // What requests that are begun say that they have waited before.
  Duration waited_{0};
};

TEST_F(TimeLimitTest, AllTheTimeThereIsWhileNothingIsLost) {
  Start(kLimit);
  const auto nap = Begin("Nap");
  RunFor(milliseconds(4900));
  EXPECT_FALSE(nap->done);
  RunFor(milliseconds(200));
  ASSERT_TRUE(nap->done);
  EXPECT_EQ(nap->status.code(), StatusCode::kDeadlineExceeded) << nap->status;
  EXPECT_NE(nap->status.message().find("ended early"), absl::string_view::npos) << nap->status;
  EXPECT_TRUE(nap->report.ended_early);
  EXPECT_EQ(Metric("neptune_requests_ended_early_total", "Nap"), 1);
  EXPECT_EQ(records_["s0"].running, 0);
}

TEST_F(TimeLimitTest, WaitingRequestsAreEndedOnceOthersAreLost) {
  Start(StrCat("concurrency: 1 queue_length_max: 1 ", kLimit));
  const auto waiting = Begin("Nap");  // keeps its place in the pool: it waits for no other service
  const auto queued = Begin("Sleep", "1");
  RunFor(milliseconds(1000));
  EXPECT_FALSE(waiting->done) << "nothing is lost yet";
  const auto lost = Begin("Sleep", "1");
  RunFor(milliseconds(200));
  ASSERT_TRUE(lost->done);
  EXPECT_EQ(lost->status.code(), StatusCode::kResourceExhausted) << lost->status;
  ASSERT_TRUE(waiting->done);
  EXPECT_EQ(waiting->status.code(), StatusCode::kDeadlineExceeded) << waiting->status;
  ASSERT_TRUE(queued->done) << "has the place of the one that was ended";
  EXPECT_TRUE(queued->status.ok()) << queued->status;
}

TEST_F(TimeLimitTest, WaitingRequestsAreEndedOnceOthersWaitTooLong) {
  Start("concurrency: 1 time_limit { lower_bound_ms: 100 wait_goal_ms: 30 }");
  const auto waiting = Begin("Nap");
  RunFor(milliseconds(1000));
  EXPECT_FALSE(waiting->done) << "no request waits for its place";
  const auto queued = Begin("Sleep", "1");
  RunFor(milliseconds(28));
  EXPECT_FALSE(waiting->done);
  RunFor(milliseconds(40));
  ASSERT_TRUE(waiting->done);
  EXPECT_EQ(waiting->status.code(), StatusCode::kDeadlineExceeded) << waiting->status;
  ASSERT_TRUE(queued->done);
  EXPECT_TRUE(queued->status.ok()) << queued->status;
}

TEST_F(TimeLimitTest, WaitingRequestsAreEndedOnceOthersHaveWaitedTooLongElsewhere) {
  Start("concurrency: 4 time_limit { lower_bound_ms: 100 wait_goal_ms: 30 }");
  const auto waiting = Begin("Nap");
  RunFor(milliseconds(1000));
  waited_ = milliseconds(29);
  const auto soon = Begin("Sleep", "1");
  RunFor(milliseconds(100));
  EXPECT_FALSE(waiting->done) << "no request has waited for long";
  waited_ = milliseconds(30);
  const auto late = Begin("Sleep", "1");
  RunFor(milliseconds(40));
  ASSERT_TRUE(waiting->done);
  EXPECT_EQ(waiting->status.code(), StatusCode::kDeadlineExceeded) << waiting->status;
  EXPECT_TRUE(soon->status.ok()) << soon->status;
  EXPECT_TRUE(late->status.ok()) << late->status;
}

TEST_F(TimeLimitTest, WorkingRequestAnswersWithWhatItHas) {
  Start(kLimit);
  const auto work = Begin("Wait");
  RunFor(milliseconds(5100));
  ASSERT_TRUE(work->done);
  EXPECT_TRUE(work->status.ok()) << work->status;
  EXPECT_EQ(records_["s0"].stop_count, 1);
  EXPECT_EQ(Metric("neptune_requests_ended_early_total", "Wait"), 1);
  EXPECT_TRUE(work->report.ended_early);
}

TEST_F(TimeLimitTest, ADeadlineIsNotTakenForTheLimit) {
  Start(kLimit);
  const auto late = Begin("Wait", "", AccessMode::kRead, milliseconds(50));
  const auto whole = Begin("Sleep", "1");
  RunFor(seconds(1));
  ASSERT_TRUE(late->done && whole->done);
  EXPECT_EQ(late->status.code(), StatusCode::kDeadlineExceeded) << late->status;
  EXPECT_FALSE(late->report.ended_early);
  EXPECT_FALSE(whole->report.ended_early);
}

TEST_F(TimeLimitTest, WhatOneHeldOfOthersIsGivenBack) {
  Start("time_limit { lower_bound_ms: 100 upper_bound_ms: 100 }", 3,
        "capsules { name: 'peers' match: 'service:echo' }");
  records_["s1"].naps = records_["s2"].naps = true;
  const auto relay = Begin("RelayNap");
  RunFor(milliseconds(50));
  EXPECT_EQ(ResidentCount("peers"), 1u);
  EXPECT_EQ(records_["s1"].running, 1);
  EXPECT_EQ(Released("call"), 0);
  RunFor(milliseconds(60));
  ASSERT_TRUE(relay->done);
  EXPECT_TRUE(relay->report.ended_early);
  EXPECT_EQ(ResidentCount("peers"), 0u);
  EXPECT_EQ(records_["s1"].running, 0) << "its nested call is cancelled";
  EXPECT_EQ(Released("call"), 1);
  EXPECT_EQ(Released("capsule_place"), 1);
  const auto aggregation = Begin("RelaySum");
  RunFor(milliseconds(50));
  EXPECT_EQ(ResidentCount("peers"), 2u);
  RunFor(milliseconds(60));
  ASSERT_TRUE(aggregation->done);
  EXPECT_EQ(ResidentCount("peers"), 0u);
  EXPECT_EQ(Released("call"), 3);
  EXPECT_EQ(Released("capsule_place"), 3);
}

TEST_F(TimeLimitTest, ThoseThatEndByThemselvesReleaseNothing) {
  Start("time_limit { lower_bound_ms: 100 upper_bound_ms: 100 }", 3,
        "capsules { name: 'peers' match: 'service:echo' }");
  const auto aggregation = Begin("RelaySum");
  RunFor(milliseconds(200));
  ASSERT_TRUE(aggregation->done);
  EXPECT_TRUE(aggregation->status.ok()) << aggregation->status;
  EXPECT_FALSE(aggregation->report.ended_early);
  EXPECT_EQ(Released("call"), 0);
  EXPECT_EQ(Released("capsule_place"), 0);
}

// Four that nap in the pool, which has four places, and one that waits for another node.
TEST_F(TimeLimitTest, ByReliefRequestsWhoseEndHelpsNoOtherGoOn) {
  for (const bool by_relief : {false, true}) {
    Start(StrCat("concurrency: 4 time_limit { lower_bound_ms: 100 wait_goal_ms: 30 ending_order: '",
                 by_relief ? "relief" : "age", "' }"),
          3, "capsules { name: 'peers' match: 'service:echo' }");
    records_["s1"].naps = records_["s2"].naps = true;
    const auto relay = Begin("RelaySum");
    std::vector<std::unique_ptr<Outcome>> naps;
    for (int i = 0; i < 4; ++i) naps.push_back(Begin("Nap"));
    RunFor(milliseconds(500));
    const auto queued = Begin("Sleep", "1");
    RunFor(milliseconds(100));
    EXPECT_TRUE(queued->done);
    const auto ended_count =
        std::count_if(naps.begin(), naps.end(), [](const auto& nap) { return nap->done; });
    EXPECT_EQ(relay->done, !by_relief) << "the oldest, which is no use";
    EXPECT_EQ(ended_count, 1);
  }
}

TEST_F(TimeLimitTest, WritesAreNeverEnded) {
  Start("time_limit { lower_bound_ms: 1 upper_bound_ms: 1 }");
  const auto write = Begin("Write", "", AccessMode::kWrite);
  RunFor(seconds(1));
  ASSERT_TRUE(write->done);
  EXPECT_TRUE(write->status.ok()) << write->status;
  EXPECT_EQ(records_["s0"].writes, 1);
}

TEST_F(TimeLimitTest, NoneWithoutALimit) {
  Start("");
  const auto nap = Begin("Nap");
  RunFor(seconds(20));
  EXPECT_FALSE(nap->done);
  EXPECT_EQ(Metric("neptune_requests_ended_early_total", "Nap"), 0);
}

// A write that is stateless, the default of methods.
class StatelessWriteModule final : public ServiceModule {
 public:
  Status Start(ModuleContext& context) override {
    context.registrar.Method(MethodName("Write"), {.access = AccessMode::kWrite},
                             [](RequestContext&, const Data&, Data*) { return OkStatus(); });
    return OkStatus();
  }
  std::string implementation() const override { return "stateless write"; }
};

TEST(TimeLimitDeathTest, AMethodThatWritesIsNotTakenForOneThatMayBeEnded) {
  SimulatedClusterOptions options;
  options.spec = EchoSpec(1, 1, kLimit);
  options.modules = [](const std::string&) -> StatusOr<std::unique_ptr<ServiceModule>> {
    return std::make_unique<StatelessWriteModule>();
  };
  EXPECT_DEATH(SimulatedCluster cluster(std::move(options)), "cannot be stateless");
}

TEST(TimeLimitSpecTest, DefaultsFillWhatIsLeftOut) {
  TimeLimitSpec spec;
  const ThresholdOptions defaults = TimeLimitOf(spec).threshold;
  EXPECT_EQ(defaults.lower_bound, milliseconds(500));
  EXPECT_EQ(defaults.upper_bound, seconds(15));
  spec.set_lower_bound_ms(40);
  spec.set_alpha(2);
  EXPECT_EQ(TimeLimitOf(spec).threshold.lower_bound, milliseconds(40));
  EXPECT_EQ(TimeLimitOf(spec).threshold.alpha, 2);
  EXPECT_EQ(TimeLimitOf(spec).wait_goal, milliseconds(40));
  spec.set_wait_goal_ms(7);
  EXPECT_EQ(TimeLimitOf(spec).wait_goal, milliseconds(7));
  EXPECT_EQ(TimeLimitOf(spec).order, EndingOrder::kAge);
  spec.set_ending_order("relief");
  EXPECT_EQ(TimeLimitOf(spec).order, EndingOrder::kRelief);
}

TEST(TimeLimitSpecTest, ImpossibleOnesAreRefused) {
  for (const char* fields :
       {"lower_bound_ms: 600 upper_bound_ms: 500", "high_watermark: 1.5", "low_watermark: 0.2",
        "low_watermark: -1", "alpha: -1", "alpha: nan", "alpha: inf", "ending_order: 'size'"}) {
    const auto parsed =
        ParseClusterSpec(StrCat("name: 'c' multicast_group: '239.1.1.1:7000' services { name: "
                                "'echo' module: 'echo' time_limit { ",
                                fields, " } } nodes { name: 's0' hosts { service: 'echo' } }"),
                         "spec");
    ASSERT_FALSE(parsed.ok()) << fields;
    EXPECT_NE(parsed.status().message().find("time_limit"), absl::string_view::npos)
        << parsed.status();
  }
}

}  // namespace
}  // namespace neptune
