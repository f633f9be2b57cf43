// Calls between whole nodes: where they go, how often they are tried, how they end.

#include <gtest/gtest.h>

#include <set>

#include "neptune/base/strings.h"
#include "neptune/service/span_log.h"
#include "neptune/testing/call_test_module.h"
#include "neptune/testing/simulated_nodes.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class CallTest : public testing::Test {
 protected:
  void Start(int node_count, const std::string& echo_fields = "",
             const std::string& balancing = "poll") {
    SimulatedClusterOptions options;
    options.spec = EchoSpec(node_count, 1, echo_fields);
    options.spec.set_balancing(balancing);
    options.modules = CallTestModules(&records_);
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  }

  struct Outcome {
    Status status = Unavailable("not done");
    std::string answer;
    CallReport report;
    Duration took{0};
    bool done = false;
  };

  static void CallOnce(ClientSession& session, const std::string& method, const std::string& text,
                       Duration timeout, AccessMode access, Outcome* outcome) {
    const TimePoint begin = this_thread::Now();
    Data response;
    outcome->status =
        Call(session, {ServiceName("echo"), PartitionId(0), MethodName(method), access}, Data(text),
             &response, {.deadline = begin + timeout}, &outcome->report);
    outcome->answer = response.bytes();
    outcome->took = this_thread::Now() - begin;
    outcome->done = true;
  }

  // Begins a call and returns; the outcome is filled in when it ends.
  std::unique_ptr<Outcome> Begin(const std::string& method, const std::string& text,
                                 Duration timeout = seconds(10),
                                 AccessMode access = AccessMode::kRead) {
    auto outcome = std::make_unique<Outcome>();
    cluster_->SpawnOnClient([=, out = outcome.get()](ClientSession& session) {
      CallOnce(session, method, text, timeout, access, out);
    });
    return outcome;
  }
  Outcome Do(const std::string& method, const std::string& text, Duration timeout = seconds(10),
             AccessMode access = AccessMode::kRead) {
    const auto outcome = Begin(method, text, timeout, access);
    EXPECT_TRUE(simulator().RunUntilTrue([&] { return outcome->done; },
                                         simulator().now() + timeout + seconds(1)));
    return *outcome;
  }

  Simulator& simulator() { return cluster_->simulator(); }
  std::string RunningHost() {
    for (const auto& [host, record] : records_) {
      if (record.running > 0) return host;
    }
    return "";
  }
  int64_t LoadIndex(const std::string& node) {
    return *cluster_->node(node).metrics().Value("neptune_load_index", {{"service", "echo"}});
  }

  HostRecords records_;
  std::unique_ptr<SimulatedCluster> cluster_;
};

TEST_F(CallTest, ReadWhoseServerDiesIsAnsweredByAnotherReplica) {
  Start(2);
  const auto outcome = Begin("Sleep", "200");
  simulator().RunFor(milliseconds(50));
  const std::string first = RunningHost();
  simulator().Crash(first, CrashKind::kProcess);
  simulator().RunFor(milliseconds(500));
  ASSERT_TRUE(outcome->status.ok()) << outcome->status;
  EXPECT_NE(outcome->answer, first);
  EXPECT_EQ(outcome->report.attempts, 2);
}

TEST_F(CallTest, WriteThatWasSentIsNotSentAgain) {
  Start(2);
  const auto outcome = Begin("Write", "x", seconds(10), AccessMode::kWrite);
  simulator().RunFor(milliseconds(50));
  simulator().Crash(RunningHost(), CrashKind::kProcess);
  simulator().RunFor(seconds(1));
  EXPECT_EQ(outcome->status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(records_["s0"].writes + records_["s1"].writes, 1);
}

TEST_F(CallTest, WriteThatCouldNotBeSentGoesToAnotherReplica) {
  Start(2, "", "random");
  simulator().Crash("s0", CrashKind::kProcess);
  for (int i = 0; i < 10; ++i) {
    const Outcome outcome = Do("Write", "x", seconds(5), AccessMode::kWrite);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  }
  EXPECT_EQ(records_["s1"].writes, 10);
}

TEST_F(CallTest, ReadThatAServerCannotServeIsAskedElsewhere) {
  Start(2, "", "random");
  records_["s0"].refuses = true;
  for (int i = 0; i < 20; ++i) {
    const Outcome outcome = Do("Name", "");
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.answer, "s1");
  }
  EXPECT_GT(records_["s0"].begun, 0);
}

TEST_F(CallTest, NodesThatMayNotBeAskedAreNot) {
  Start(4);
  const auto do_without = [&](std::vector<NodeId> except) {
    Status status;
    Data answer;
    cluster_->RunOnClient([&](ClientSession& session) {
      status = Call(session,
                    {ServiceName("echo"), PartitionId(0), MethodName("Name"), AccessMode::kRead},
                    Data(), &answer, {.except = std::move(except)});
    });
    return status.ok() ? std::string(answer.bytes()) : "no replica";
  };
  std::set<std::string> answered;
  for (int i = 0; i < 20; ++i) answered.insert(do_without({NodeId("s0"), NodeId("s2")}));
  EXPECT_EQ(answered, (std::set<std::string>{"s1", "s3"}));
  simulator().Crash("s1", CrashKind::kProcess);
  EXPECT_EQ(do_without({NodeId("s0"), NodeId("s2")}), "s3");
  EXPECT_EQ(do_without({NodeId("s0"), NodeId("s2"), NodeId("s3")}), "no replica")
      << "the others are not asked in its place";
}

TEST_F(CallTest, RefusedWriteIsAnsweredWithTheRefusal) {
  Start(2);
  records_["s0"].refuses = records_["s1"].refuses = true;
  EXPECT_EQ(Do("Write", "x", seconds(1), AccessMode::kWrite).status.code(),
            StatusCode::kUnavailable);
  EXPECT_EQ(records_["s0"].begun + records_["s1"].begun, 1);
}

TEST_F(CallTest, NodeThatRefusesThreeConnectionsIsLeftOutUntilItIsHeard) {
  Start(2, "", "round_robin");
  simulator().Crash("s0", CrashKind::kProcess);
  const TimePoint killed = simulator().now();
  for (int i = 0; i < 12; ++i) EXPECT_TRUE(Do("Name", "").status.ok());
  simulator().RunFor(milliseconds(20));
  EXPECT_EQ(cluster_->KnownReplicas(), std::set<std::string>{"s1"});
  EXPECT_LT(simulator().now() - killed, seconds(1)) << "long before its announcement expires";
  simulator().Restart("s0");
  simulator().RunFor(seconds(1));
  EXPECT_EQ(cluster_->KnownReplicas(), (std::set<std::string>{"s0", "s1"}));
}

TEST_F(CallTest, TwoRefusedConnectionsDoNotExclude) {
  Start(1, "", "round_robin");
  simulator().Crash("s0", CrashKind::kProcess);
  cluster_->RunOnClient([](ClientSession& session) {
    Data response;
    CallOptions options;
    options.deadline = this_thread::Now() + seconds(1);
    options.attempts_max = 2;
    EXPECT_FALSE(Call(session,
                      {ServiceName("echo"), PartitionId(0), MethodName("Name"), AccessMode::kRead},
                      Data(), &response, options)
                     .ok());
  });
  simulator().RunFor(milliseconds(20));
  EXPECT_EQ(cluster_->KnownReplicas(), std::set<std::string>{"s0"});
}

TEST_F(CallTest, HungServerIsAvoided) {
  Start(3);
  simulator().Pause("s0");
  const TimePoint begin = simulator().now();
  for (int i = 0; i < 100; ++i) {
    const Outcome outcome = Do("Name", "");
    ASSERT_TRUE(outcome.status.ok()) << i << ": " << outcome.status;
    EXPECT_NE(outcome.answer, "s0");
    EXPECT_LT(outcome.took, milliseconds(12));
  }
  EXPECT_LT(simulator().now() - begin, milliseconds(300)) << "most calls do not wait for it";
}

TEST_F(CallTest, DeadlineEndsTheCallAndTheWork) {
  Start(1);
  const Outcome outcome = Do("Wait", "", milliseconds(100));
  EXPECT_EQ(outcome.status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_LT(outcome.took, milliseconds(101));
  simulator().RunFor(milliseconds(50));
  EXPECT_EQ(records_["s0"].running, 0);
  EXPECT_EQ(records_["s0"].stop_count, 1);
  EXPECT_EQ(LoadIndex("s0"), 0);
}

TEST_F(CallTest, LostCallerEndsTheWork) {
  Start(1);
  const auto outcome = Begin("Wait", "");
  simulator().RunFor(milliseconds(50));
  EXPECT_EQ(records_["s0"].running, 1);
  simulator().Crash("c", CrashKind::kProcess);
  simulator().RunFor(milliseconds(50));
  EXPECT_EQ(records_["s0"].running, 0);
}

TEST_F(CallTest, LostCallerEndsWhatTheMethodCalled) {
  Start(1);
  const auto outcome = Begin("Relay", "");
  simulator().RunFor(milliseconds(50));
  EXPECT_EQ(records_["s0"].running, 1) << "the call of the call";
  simulator().Crash("c", CrashKind::kProcess);
  simulator().RunFor(milliseconds(50));
  EXPECT_EQ(records_["s0"].running, 0);
  EXPECT_EQ(LoadIndex("s0"), 0);
}

TEST_F(CallTest, DeadlineIsHandedDown) {
  Start(1);
  EXPECT_EQ(Do("Relay", "", milliseconds(100)).status.code(), StatusCode::kDeadlineExceeded);
  simulator().RunFor(milliseconds(20));
  EXPECT_EQ(records_["s0"].running, 0);
  const double expired = *cluster_->node("s0").metrics().Value(
      "neptune_calls_total", {{"service", "echo"}, {"method", "Wait"}, {"outcome", "expired"}});
  const double cancelled = *cluster_->node("s0").metrics().Value(
      "neptune_calls_total", {{"service", "echo"}, {"method", "Wait"}, {"outcome", "cancelled"}});
  EXPECT_EQ(expired + cancelled, 1) << "which of the two comes first is a matter of microseconds";
}

TEST_F(CallTest, SleepOfAMethodEndsWithItsCaller) {
  Start(1);
  const auto outcome = Begin("Nap", "", milliseconds(100));
  simulator().RunFor(milliseconds(90));
  EXPECT_EQ(records_["s0"].running, 1);
  simulator().RunFor(milliseconds(20));
  EXPECT_EQ(records_["s0"].running, 0);
  const auto lost = Begin("Nap", "");
  simulator().RunFor(milliseconds(50));
  EXPECT_EQ(records_["s0"].running, 1);
  simulator().Crash("c", CrashKind::kProcess);
  simulator().RunFor(milliseconds(5));
  EXPECT_EQ(records_["s0"].running, 0) << "at once, not at its next look";
}

TEST_F(CallTest, SampledTraceLeavesConnectedSpans) {
  Start(1);
  const TraceContext root{0x11, 0x22, 0x33, true};
  cluster_->RunOnClient([&](ClientSession& session) {
    session.trace = root;
    Data response;
    EXPECT_EQ(
        Call(session, {ServiceName("echo"), PartitionId(0), MethodName("Relay"), AccessMode::kRead},
             Data(), &response, {.deadline = this_thread::Now() + milliseconds(50)})
            .code(),
        StatusCode::kDeadlineExceeded);
  });
  simulator().RunFor(milliseconds(50));
  std::vector<Span> spans = cluster_->client().spans().Snapshot();
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].parent, root.span);
  const std::vector<Span> served = cluster_->node("s0").spans().Snapshot();
  spans.insert(spans.end(), served.begin(), served.end());
  ASSERT_EQ(spans.size(), 4u) << "two calls with two sides each";
  std::set<uint64_t> known = {root.span};
  for (const Span& span : spans) known.insert(span.context.span);
  EXPECT_EQ(known.size(), 5u);
  for (const Span& span : spans) {
    EXPECT_EQ(span.context.trace_high, root.trace_high);
    EXPECT_EQ(span.context.trace_low, root.trace_low);
    EXPECT_TRUE(known.contains(span.parent)) << span.what << " is an orphan";
  }
}

TEST_F(CallTest, UnsampledTraceIsHandedDownAndKeptNowhere) {
  Start(1);
  cluster_->RunOnClient([&](ClientSession& session) {
    session.trace = {0x11, 0x22, 0x33, false};
    Data response;
    EXPECT_TRUE(Call(session,
                     {ServiceName("echo"), PartitionId(0), MethodName("Name"), AccessMode::kRead},
                     Data(), &response)
                    .ok());
  });
  EXPECT_TRUE(cluster_->client().spans().Snapshot().empty());
  EXPECT_TRUE(cluster_->node("s0").spans().Snapshot().empty());
}

TEST_F(CallTest, CancelledRequestLeavesTheQueue) {
  Start(1, "concurrency: 1");
  const auto busy = Begin("Sleep", "300");
  simulator().RunFor(milliseconds(10));
  EXPECT_EQ(Do("Sleep", "1", milliseconds(50)).status.code(), StatusCode::kDeadlineExceeded);
  simulator().RunFor(milliseconds(10));
  EXPECT_EQ(LoadIndex("s0"), 1) << "only the one that runs";
  simulator().RunFor(seconds(1));
  EXPECT_TRUE(busy->status.ok());
  EXPECT_EQ(records_["s0"].begun, 1);
}

TEST_F(CallTest, ShortRequestRunsAtOnceUnlessOthersWait) {
  Start(1, "concurrency: 1");
  const auto running = Begin("Sleep", "300");
  simulator().RunFor(milliseconds(10));
  EXPECT_LT(Do("Name", "").took, milliseconds(5));
  const auto waiting = Begin("Sleep", "10");
  simulator().RunFor(milliseconds(10));
  EXPECT_GT(Do("Name", "").took, milliseconds(200)) << "in its turn after the one that waits";
}

TEST_F(CallTest, LongRequestsRunSoManyAtOnce) {
  Start(1, "concurrency: 3");
  std::vector<std::unique_ptr<Outcome>> outcomes;
  for (int i = 0; i < 10; ++i) outcomes.push_back(Begin("Sleep", "50"));
  simulator().RunFor(seconds(1));
  for (const auto& outcome : outcomes) EXPECT_TRUE(outcome->status.ok()) << outcome->status;
  EXPECT_EQ(records_["s0"].running_max, 3);
}

TEST_F(CallTest, ShortRequestsThatWaitInsideAreBoundedToo) {
  Start(1, "concurrency: 2");
  std::vector<std::unique_ptr<Outcome>> outcomes;
  for (int i = 0; i < 1100; ++i) outcomes.push_back(Begin("Doze", "50"));
  simulator().RunFor(seconds(2));
  std::map<StatusCode, int> counts;
  for (const auto& outcome : outcomes) ++counts[outcome->status.code()];
  EXPECT_EQ(counts[StatusCode::kOk], 1024 + 2 + 40);
  EXPECT_EQ(counts[StatusCode::kResourceExhausted], 1100 - (1024 + 2 + 40));
}

TEST_F(CallTest, ExceptionBecomesInternalAndCostsNothingElse) {
  Start(1);
  const Outcome outcome = Do("Throw", "");
  EXPECT_EQ(outcome.status.code(), StatusCode::kInternal);
  EXPECT_NE(outcome.status.message().find("asked to throw"), std::string::npos);
  EXPECT_TRUE(Do("Name", "").status.ok());
}

TEST_F(CallTest, WriteCalledAsAReadIsRefused) {
  Start(1);
  EXPECT_EQ(Do("Write", "x").status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(records_["s0"].writes, 0);
}

TEST_F(CallTest, RequestOverTheFrameLimitFailsAlone) {
  Start(1);
  const auto other = Begin("Sleep", "100");
  simulator().RunFor(milliseconds(10));
  EXPECT_EQ(Do("Echo", std::string((64 << 20) + 1, 'x')).status.code(),
            StatusCode::kResourceExhausted);
  simulator().RunFor(seconds(1));
  EXPECT_TRUE(other->status.ok()) << other->status;
}

TEST_F(CallTest, StalledHostLeavesAndComesBack) {
  Start(1, "concurrency: 1");
  const auto stuck = Begin("Sleep", "6000", seconds(30));
  simulator().RunFor(seconds(3));
  EXPECT_EQ(cluster_->KnownReplicas().size(), 1u) << "busy, but no request waits";
  const auto waiting = Begin("Sleep", "1", seconds(30));
  simulator().RunFor(milliseconds(1490));
  EXPECT_EQ(cluster_->KnownReplicas().size(), 1u) << "waits for less than the timeout";
  simulator().RunFor(milliseconds(500));
  EXPECT_TRUE(cluster_->KnownReplicas().empty()) << "out within 2 s";
  simulator().RunFor(seconds(3));
  EXPECT_TRUE(waiting->status.ok()) << waiting->status;
  EXPECT_EQ(cluster_->KnownReplicas().size(), 1u);
}

TEST_F(CallTest, HostWhoseLastWaitingRequestRunsIsNotStalled) {
  Start(1, "concurrency: 1");
  const auto first = Begin("Sleep", "100");
  const auto second = Begin("Sleep", "4000", seconds(30));
  simulator().RunFor(seconds(3));
  EXPECT_TRUE(first->status.ok()) << first->status;
  EXPECT_EQ(cluster_->KnownReplicas().size(), 1u) << "busy, but no request waits";
}

// Requests whose callers give up leave the queue; this does not count as progress.
TEST_F(CallTest, HungHostLeavesThoughNoRequestWaitsLong) {
  Start(1, "concurrency: 1");
  const auto stuck = Begin("Sleep", "6000", seconds(30));
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(Do("Sleep", "1", milliseconds(200)).status.code(), StatusCode::kDeadlineExceeded);
    simulator().RunFor(milliseconds(50));
  }
  simulator().RunFor(milliseconds(500));
  EXPECT_TRUE(cluster_->KnownReplicas().empty());
  simulator().RunFor(seconds(6));
  EXPECT_EQ(cluster_->KnownReplicas().size(), 1u);
}

TEST_F(CallTest, UnhealthyPartitionIsNotOffered) {
  Start(2);
  records_["s0"].health = DataLoss("asked to be ill");
  records_["s1"].health_throws = true;
  simulator().RunFor(seconds(2));
  EXPECT_TRUE(cluster_->KnownReplicas().empty());
  EXPECT_EQ(Do("Name", "").status.code(), StatusCode::kUnavailable);
  records_["s0"].health = OkStatus();
  simulator().RunFor(seconds(2));
  EXPECT_EQ(cluster_->KnownReplicas(), std::set<std::string>{"s0"});
}

TEST_F(CallTest, StopEndsWaitingMethodsBeforeTheirModule) {
  Start(1);
  const auto outcome = Begin("Wait", "", seconds(30));
  simulator().RunFor(milliseconds(50));
  int stopped = 0;
  const TimePoint begin = simulator().now();
  for (int i = 0; i < 2; ++i) cluster_->node("s0").Stop(milliseconds(200), [&] { ++stopped; });
  ASSERT_TRUE(simulator().RunUntilTrue([&] { return stopped == 2; }, begin + seconds(5)));
  EXPECT_LT(simulator().now() - begin, seconds(1));
  EXPECT_EQ(records_["s0"].module_stops, 1);
  EXPECT_EQ(records_["s0"].running_at_module_stop, 0);
  simulator().RunFor(milliseconds(50));
  EXPECT_EQ(outcome->status.code(), StatusCode::kCancelled);
  cluster_->node("s0").Stop(seconds(1), [&] { ++stopped; });
  simulator().RunFor(milliseconds(50));
  EXPECT_EQ(stopped, 3);
}

TEST_F(CallTest, CallsOfAStoppingNodeEnd) {
  Start(1);
  const auto outcome = Begin("Wait", "", seconds(30));
  simulator().RunFor(milliseconds(50));
  bool stopped = false;
  cluster_->client().Stop(milliseconds(100), [&] { stopped = true; });
  simulator().RunFor(seconds(1));
  EXPECT_TRUE(stopped);
  EXPECT_EQ(outcome->status.code(), StatusCode::kCancelled);
  EXPECT_EQ(records_["s0"].running, 0) << "the request was cancelled at the server";
}

// Starts one node alone on a simulated host, which hosts all partitions of its services, and takes
// everything down after it failed.
Status StartAlone(const std::string& module, int service_count) {
  std::string services;
  std::string hosts;
  for (int i = 0; i < service_count; ++i) {
    const std::string name = StrCat(std::string(50, 's'), i);
    services +=
        StrCat("services { name: '", name, "' module: '", module, "' partition_count: 1000 } ");
    hosts += StrCat("hosts { service: '", name, "' } ");
  }
  const ClusterSpec spec = *ParseClusterSpec(StrCat("name: 't' multicast_group: '239.1.1.1:70' ",
                                                    services, "nodes { name: 'n' ", hosts, "}"),
                                             "test");
  Status status = Unavailable("not done");
  SimulatedNodes nodes(
      {.make_options =
           [&](const std::string&) { return NodeOptions{.spec = spec, .modules = MakeEcho}; },
       .on_start = [&](const std::string&, const Status& result) { status = result; }});
  nodes.AddAll(spec);
  nodes.simulator().RunFor(seconds(1));
  bool stopped = false;
  nodes.node("n").Stop(seconds(1), [&] { stopped = true; });
  nodes.simulator().RunFor(seconds(3));
  EXPECT_TRUE(stopped);
  return status;
}

TEST(NodeStartTest, MissingModuleFailsTheStartAndTheNodeCanBeStopped) {
  EXPECT_EQ(StartAlone("nonsense", 1).code(), StatusCode::kNotFound);
}

TEST(NodeStartTest, NodeThatDoesNotFitItsAnnouncementFailsTheStart) {
  EXPECT_EQ(StartAlone("echo", 32).code(), StatusCode::kResourceExhausted);
}

TEST(NodeStartTest, NodeThatFitsStarts) { EXPECT_TRUE(StartAlone("echo", 1).ok()); }

}  // namespace
}  // namespace neptune
