// Dependency capsules around what nodes ask of each other: calls, streams, aggregations.

#include <glog/logging.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "neptune/base/strings.h"
#include "neptune/capsule/capsule_stack.h"
#include "neptune/dac/dac.h"
#include "neptune/service/client_stream.h"
#include "neptune/testing/call_test_module.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Outcome {
  Status status = Unavailable("not done");
  std::string answer;
  CallReport report;
  Duration took{0};
  bool done = false;
};

class CapsulesTest : public testing::Test {
 protected:
  void Start(int node_count, int partition_count, const std::string& capsules,
             const std::string& balancing = "round_robin", const std::string& echo_fields = "") {
    SimulatedClusterOptions options;
    options.spec = EchoSpec(node_count, partition_count, echo_fields);
    options.spec.set_balancing(balancing);
    CHECK(google::protobuf::TextFormat::MergeFromString(capsules, &options.spec)) << capsules;
    options.modules = CallTestModules(&records_);
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  }

  struct Order {
    uint32_t partition = 0;
    std::string method = "Name";
    std::string text{};
    Duration timeout = seconds(10);
    std::string service_class{};
    std::optional<Duration> hedge_after{};
  };
  static void CallOnce(ClientSession& session, const Order& order, Outcome* outcome) {
    const TimePoint begin = this_thread::Now();
    session.service_class = order.service_class;
    Data response;
    CallOptions options;
    options.deadline = begin + order.timeout;
    options.hedge_after = order.hedge_after;
    outcome->status = Call(session,
                           {ServiceName("echo"), PartitionId(order.partition),
                            MethodName(order.method), AccessMode::kRead},
                           Data(order.text), &response, options, &outcome->report);
    outcome->answer = response.bytes();
    outcome->took = this_thread::Now() - begin;
    outcome->done = true;
  }
  std::unique_ptr<Outcome> Begin(const Order& order) {
    auto outcome = std::make_unique<Outcome>();
    cluster_->SpawnOnClient(
        [order, out = outcome.get()](ClientSession& session) { CallOnce(session, order, out); });
    return outcome;
  }
  Outcome Do(const Order& order) {
    const auto outcome = Begin(order);
    EXPECT_TRUE(simulator().RunUntilTrue([&] { return outcome->done; },
                                         simulator().now() + order.timeout + seconds(1)));
    return *outcome;
  }
  // Starts this many calls and lets them proceed for a short time.
  std::vector<std::unique_ptr<Outcome>> BeginMany(int count, const Order& order) {
    std::vector<std::unique_ptr<Outcome>> outcomes;
    for (int i = 0; i < count; ++i) outcomes.push_back(Begin(order));
    simulator().RunFor(milliseconds(5));
    return outcomes;
  }
  static int CountOf(const std::vector<std::unique_ptr<Outcome>>& outcomes, StatusCode code) {
    return static_cast<int>(std::count_if(
        outcomes.begin(), outcomes.end(),
        [&](const auto& outcome) { return outcome->done && outcome->status.code() == code; }));
  }

  Simulator& simulator() { return cluster_->simulator(); }
  CapsuleStatistics Capsule(const std::string& name, const std::string& node = "c") {
    const auto capsule = cluster_->node(node).capsules().Named(name);
    return capsule == nullptr ? CapsuleStatistics() : capsule->Inspect(simulator().now());
  }
  double Metric(const std::string& name, const std::string& capsule) {
    return *cluster_->client().metrics().Value(name, {{"capsule", capsule}});
  }

  HostRecords records_;
  std::unique_ptr<SimulatedCluster> cluster_;
};

TEST_F(CapsulesTest, AHungPartitionHoldsNoMoreThanItsCapsuleAndDelaysNoOthers) {
  Start(2, 2,
        "capsules { name: 'p0' match: 'service:echo/0' resident_count_max: 20 timeout_ms: 200 }");
  const auto hung = BeginMany(50, {.partition = 0, .method = "Doze", .text = "3600000"});
  EXPECT_EQ(CountOf(hung, StatusCode::kResourceExhausted), 30) << "at once";
  EXPECT_NE(hung.back()->status.message().find("capsule 'p0' is full"), absl::string_view::npos)
      << hung.back()->status;
  EXPECT_EQ(Capsule("p0").control.resident_count, 20u);
  const Outcome fine = Do({.partition = 1});
  EXPECT_TRUE(fine.status.ok());
  EXPECT_LT(fine.took, milliseconds(5));
  simulator().RunFor(milliseconds(250));
  EXPECT_EQ(CountOf(hung, StatusCode::kDeadlineExceeded), 20);
  EXPECT_NE(hung.front()->status.message().find("timeout of capsule 'p0'"), absl::string_view::npos)
      << hung.front()->status;
  EXPECT_EQ(Capsule("p0").control.resident_count, 0u);
  EXPECT_EQ(Metric("neptune_capsule_timed_out_total", "p0"), 20);
  EXPECT_EQ(Metric("neptune_capsule_refused_total", "p0"), 30);
  EXPECT_EQ(Metric("neptune_capsule_done_total", "default"), 1);
}

TEST_F(CapsulesTest, CallsOverTheProcessingBoundWaitTheirTurnByClass) {
  Start(1, 1,
        "capsules { name: 'one' match: 'service:echo' processing_count_max: 1 "
        "policy: 'priority' class: 'gold' class: 'silver' }");
  const auto first = Begin({.method = "Doze", .text = "10"});
  simulator().RunFor(milliseconds(2));
  const auto bronze = Begin({.method = "Doze", .text = "10"});
  const auto silver = Begin({.method = "Doze", .text = "10", .service_class = "silver"});
  const auto gold = Begin({.method = "Doze", .text = "10", .service_class = "gold"});
  simulator().RunFor(seconds(1));
  EXPECT_LT(first->took, gold->took);
  EXPECT_LT(gold->took, silver->took);
  EXPECT_LT(silver->took, bronze->took);
  EXPECT_EQ(records_["s0"].running_max, 1);
}

TEST_F(CapsulesTest, TheServerReceivesTheShorterDeadline) {
  Start(1, 1, "capsules { name: 'one' match: 'service:echo' timeout_ms: 50 }");
  const Outcome outcome = Do({.method = "Wait"});
  EXPECT_EQ(outcome.status.code(), StatusCode::kDeadlineExceeded);
  simulator().RunFor(milliseconds(20));
  EXPECT_EQ(records_["s0"].running, 0) << "it worked on for the caller's ten seconds";
}

TEST_F(CapsulesTest, AReplicaThatIsLateInItsCapsuleIsLeftForAnother) {
  Start(2, 1, "capsules { name: 'first' match: 'service:echo@s0' timeout_ms: 50 }");
  records_["s0"].naps = true;
  simulator().Pause("s0");
  int slow_count = 0;
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = Do({.timeout = seconds(2)});
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.answer, "s1");
    if (outcome.report.attempts == 2) {
      ++slow_count;
      EXPECT_GE(outcome.took, milliseconds(50));
      EXPECT_LT(outcome.took, milliseconds(60));
    }
  }
  EXPECT_GT(slow_count, 0) << "round robin meets s0";
}

TEST_F(CapsulesTest, ABypassedReplicaCostsNoTime) {
  Start(2, 1,
        "capsules { name: 'first' match: 'service:echo@s0' timeout_ms: 50 failure_count_max: 2 }");
  simulator().Pause("s0");
  Duration longest{0};
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(Do({}).status.ok());
  EXPECT_TRUE(Capsule("first").bypassing);
  for (int i = 0; i < 10; ++i) {
    const Outcome outcome = Do({});
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    longest = std::max(longest, outcome.took);
  }
  EXPECT_LT(longest, milliseconds(5));
}

TEST_F(CapsulesTest, WhenAllIsBypassedCallsEndAtOnceAndComeBackBySomeProbe) {
  Start(1, 1, "capsules { name: 'all' match: 'service:echo' timeout_ms: 50 failure_count_max: 3 }");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Do({.method = "Doze", .text = "1000"}).status.code(), StatusCode::kDeadlineExceeded);
  }
  const Outcome bypassed = Do({});
  EXPECT_EQ(bypassed.status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(bypassed.took, Duration(0));
  EXPECT_EQ(bypassed.report.attempts, 0);
  simulator().RunFor(milliseconds(100));
  EXPECT_TRUE(Do({}).status.ok()) << "the probe";
  EXPECT_TRUE(Do({}).status.ok());
  EXPECT_FALSE(Capsule("all").bypassing);
}

// Such a server answers in time: a few pathological requests must not take it away from the others.
TEST_F(CapsulesTest, AServerThatEndsRequestsEarlyIsNotBypassed) {
  Start(1, 1, "capsules { name: 'all' match: 'service:echo' failure_count_max: 2 }", "round_robin",
        "time_limit { lower_bound_ms: 20 upper_bound_ms: 20 }");
  for (int i = 0; i < 10; ++i) {
    const Outcome ended = Do({.method = "Nap"});
    EXPECT_EQ(ended.status.code(), StatusCode::kDeadlineExceeded) << ended.status;
    EXPECT_TRUE(ended.report.ended_early);
  }
  EXPECT_FALSE(Capsule("all").bypassing);
  EXPECT_TRUE(Do({}).status.ok());
}

TEST_F(CapsulesTest, WhatMigratesToAReplicasCapsuleIsAskedOfThatReplica) {
  Start(2, 1,
        "capsules { name: 'a' match: 'service:echo@s0' resident_count_max: 1 migrate_to: 'b' }"
        "capsules { name: 'b' match: 'service:echo@s1' }");
  const auto calls = BeginMany(8, {.method = "Doze", .text = "50"});
  simulator().RunFor(milliseconds(200));
  std::map<std::string, int> answers;
  for (const auto& call : calls) {
    ASSERT_TRUE(call->status.ok()) << call->status;
    EXPECT_EQ(call->report.server.value(), call->answer);
    ++answers[call->answer];
  }
  EXPECT_EQ(answers["s0"], 1);
  EXPECT_EQ(answers["s1"], 7);
  EXPECT_EQ(Capsule("a").migrated, 3u);
  EXPECT_EQ(Capsule("b").control.done, 7u);
}

TEST_F(CapsulesTest, AnAddressIsARuleForServicesToo) {
  Start(1, 1, "");
  const Endpoint at = cluster_->node("s0").call_endpoint();
  CapsuleConfig config;
  config.name = "peer";
  config.rules = {*ClassificationRule::Parse("inet:" + at.ToString())};
  cluster_->RunOnClient(
      [&](ClientSession&) { ASSERT_TRUE(cluster_->client().capsules().Create(config).ok()); });
  ASSERT_TRUE(Do({}).status.ok());
  EXPECT_EQ(Capsule("peer").control.done, 1u);
}

TEST_F(CapsulesTest, ACancelledCallLeavesTheQueueOfItsCapsule) {
  Start(1, 1, "capsules { name: 'one' match: 'service:echo' processing_count_max: 1 }");
  // Relay calls Wait of its own service, from a handler on s0.
  const auto relay = Begin({.method = "Relay", .timeout = milliseconds(300)});
  simulator().RunFor(milliseconds(5));
  const auto second = Begin({.method = "Relay", .timeout = milliseconds(100)});
  simulator().RunFor(milliseconds(50));
  EXPECT_EQ(Capsule("one").waiting_count, 1u);
  simulator().RunFor(seconds(1));
  EXPECT_TRUE(relay->done);
  EXPECT_TRUE(second->done);
  for (const char* const node : {"c", "s0"}) {
    EXPECT_EQ(Capsule("one", node).control.resident_count, 0u) << node;
    EXPECT_EQ(Capsule("one", node).processing_count, 0u) << node;
  }
}

TEST_F(CapsulesTest, AStreamHoldsAPlaceOnlyWhileSomebodyWaits) {
  Start(1, 1, "capsules { name: 'one' match: 'service:echo' timeout_ms: 50 }");
  cluster_->RunOnClient([&](ClientSession& session) {
    auto stream =
        *OpenStream(session, ServiceName("echo"), PartitionId(0), MethodName("Hold"), Data("100"));
    EXPECT_EQ(Capsule("one").control.resident_count, 0u);
    const Status late = stream->Read().status();
    EXPECT_EQ(late.code(), StatusCode::kDeadlineExceeded) << late;
    this_thread::SleepFor(milliseconds(100));
    EXPECT_TRUE(stream->Finish().ok()) << "the stream continues all the same";
  });
  EXPECT_EQ(Capsule("one").control.resident_count, 0u);
  EXPECT_EQ(Capsule("one").control.timed_out, 1u);
}

TEST_F(CapsulesTest, APartitionThatItsCapsuleBypassesIsMissingAtOnceAndNamed) {
  Start(3, 3,
        "capsules { name: 'p1' match: 'service:echo/1' timeout_ms: 100 failure_count_max: 2 "
        "probe_interval_ms: 60000 }");
  records_["s1"].naps = true;
  AggregationRequest request;
  request.service = ServiceName("echo");
  for (uint32_t p = 0; p < 3; ++p) request.partitions.emplace_back(p);
  request.local = MethodName("NapSum");
  request.reduce = MethodName("AddNumbers");
  request.scheme = TreeScheme::kBase;
  request.aggregation_quality_min = 0.5;
  std::vector<Duration> times;
  AggregationReport report;
  for (int i = 0; i < 4; ++i) {
    cluster_->RunOnClient([&](ClientSession& session) {
      request.deadline = this_thread::Now() + seconds(1);
      const TimePoint begin = this_thread::Now();
      Data result;
      EXPECT_TRUE(Aggregate(session, request, &result, &report).ok());
      times.push_back(this_thread::Now() - begin);
    });
  }
  EXPECT_GE(times[0], milliseconds(100)) << "the capsule's timeout";
  EXPECT_LT(times[0], milliseconds(110)) << "and not the call's deadline";
  EXPECT_LT(times[2], milliseconds(10)) << "bypassed";
  EXPECT_LT(times[3], milliseconds(10));
  ASSERT_EQ(report.missing.size(), 1u);
  EXPECT_EQ(report.missing[0].partition, PartitionId(1));
  EXPECT_NE(report.missing[0].reason.message().find("capsule 'p1'"), absl::string_view::npos)
      << report.missing[0].reason;
  EXPECT_EQ(Capsule("p1").control.resident_count, 0u);
}

TEST_F(CapsulesTest, ChildrenOfAggregationsWaitTheirTurnWithoutAThread) {
  Start(2, 2, "capsules { name: 'all' match: 'service:echo' processing_count_max: 1 }");
  AggregationRequest request;
  request.service = ServiceName("echo");
  request.partitions = {PartitionId(0), PartitionId(1)};
  request.local = MethodName("Sum");
  request.reduce = MethodName("AddNumbers");
  request.scheme = TreeScheme::kBase;
  int done_count = 0;
  for (int i = 0; i < 50; ++i) {
    cluster_->SpawnOnClient([&](ClientSession& session) {
      AggregationRequest own = request;
      own.deadline = this_thread::Now() + seconds(5);
      Data result;
      AggregationReport report;
      if (Aggregate(session, own, &result, &report).ok() && result.bytes() == "1") ++done_count;
    });
  }
  simulator().RunFor(seconds(2));
  EXPECT_EQ(done_count, 50);
  EXPECT_GT(Capsule("all").waited, 90u);
  EXPECT_EQ(Capsule("all").control.resident_count, 0u);
  EXPECT_EQ(Capsule("all").processing_count, 0u);
}

TEST_F(CapsulesTest, ASlowReadIsAskedOfASecondReplica) {
  Start(2, 1, "");
  simulator().Pause("s0");
  int hedged_count = 0;
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = Do({.hedge_after = milliseconds(20)});
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.answer, "s1");
    EXPECT_EQ(outcome.report.server, NodeId("s1"));
    EXPECT_LT(outcome.took, milliseconds(30));
    hedged_count += outcome.report.hedged ? 1 : 0;
  }
  EXPECT_GT(hedged_count, 0) << "round robin meets s0";
  EXPECT_EQ(*cluster_->client().metrics().Value("neptune_call_hedges_total",
                                                {{"service", "echo"}, {"method", "Name"}}),
            hedged_count);
}

TEST_F(CapsulesTest, HedgesAreBoundedByTheirBudget) {
  Start(2, 1, "");
  // Both answer after 100 ms, so no hedge is of use: all of them are load.
  const auto calls =
      BeginMany(300, {.method = "Doze", .text = "100", .hedge_after = milliseconds(10)});
  simulator().RunFor(seconds(2));
  int hedged_count = 0;
  for (const auto& call : calls) {
    ASSERT_TRUE(call->status.ok()) << call->status;
    hedged_count += call->report.hedged ? 1 : 0;
  }
  EXPECT_EQ(hedged_count, 50) << "the reserve; what calls add to it was full when they came";
  EXPECT_EQ(records_["s0"].begun + records_["s1"].begun, 350);
}

TEST_F(CapsulesTest, TheHedgeStopsWhenTheFirstServerAnswers) {
  Start(2, 1, "");
  const Outcome outcome = Do({.method = "Doze", .text = "30", .hedge_after = milliseconds(10)});
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_TRUE(outcome.report.hedged);
  EXPECT_LT(outcome.took, milliseconds(35)) << "of the first one";
  simulator().RunFor(milliseconds(2));
  EXPECT_EQ(Capsule("default").control.resident_count, 0u) << "the other one is waited for";
  EXPECT_EQ(Capsule("default").control.cancelled, 1u);
}

}  // namespace
}  // namespace neptune
