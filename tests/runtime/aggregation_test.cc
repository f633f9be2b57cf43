// Aggregation over whole nodes: what is counted, what is missing, what fails.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "neptune/base/strings.h"
#include "neptune/dac/dac.h"
#include "neptune/testing/call_test_module.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class AggregationTest : public testing::Test {
 protected:
  void Start(int node_count, int partition_count, const std::string& echo_fields = "") {
    SimulatedClusterOptions options;
    options.spec = EchoSpec(node_count, partition_count, echo_fields);
    options.modules = CallTestModules(&records_);
    cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  }

  static AggregationRequest SumOf(std::vector<uint32_t> partitions) {
    AggregationRequest request;
    request.service = ServiceName("echo");
    for (const uint32_t partition : partitions) request.partitions.emplace_back(partition);
    request.local = MethodName("Sum");
    request.reduce = MethodName("AddNumbers");
    return request;
  }

  // Aggregates with a deadline from now.
  Status Run(AggregationRequest request, Duration timeout = seconds(1)) {
    Status status;
    result_ = Data("untouched");
    cluster_->RunOnClient([&](ClientSession& session) {
      request.deadline = this_thread::Now() + timeout;
      status = Aggregate(session, request, &result_, &report_);
    });
    return status;
  }

  HostRecords records_;
  std::unique_ptr<SimulatedCluster> cluster_;
  Data result_;
  AggregationReport report_;
};

TEST_F(AggregationTest, PartitionNamedTwiceCountsOnce) {
  Start(4, 4);
  ASSERT_TRUE(Run(SumOf({3, 1, 3, 1, 3})).ok());
  EXPECT_EQ(result_.bytes(), "4");
  EXPECT_EQ(report_.contributing_partitions,
            (std::vector<PartitionId>{PartitionId(1), PartitionId(3)}));
}

TEST_F(AggregationTest, NoPartitionsGiveAnEmptyResult) {
  Start(1, 1);
  ASSERT_TRUE(Run(SumOf({})).ok());
  EXPECT_EQ(result_.bytes(), "");
  EXPECT_EQ(report_.quality(), 1.0);
}

TEST_F(AggregationTest, OnePartitionIsNotReduced) {
  Start(2, 2);
  AggregationRequest request = SumOf({1});
  request.reduce = MethodName("FailingReduce");
  ASSERT_TRUE(Run(request).ok());
  EXPECT_EQ(result_.bytes(), "1");
}

TEST_F(AggregationTest, ErrorOfTheReduceOperatorIsTheError) {
  Start(3, 3);
  for (const char* reduce : {"FailingReduce", "ThrowingReduce"}) {
    AggregationRequest request = SumOf({0, 1, 2});
    request.reduce = MethodName(reduce);
    const Status status = Run(request);
    EXPECT_NE(status.message().find("asked to"), std::string::npos) << status;
    EXPECT_EQ(result_.bytes(), "untouched");
  }
}

TEST_F(AggregationTest, UnknownReduceOperatorIsRefusedBeforeAnybodyIsAsked) {
  Start(1, 1);
  AggregationRequest request = SumOf({0});
  request.reduce = MethodName("nonsense");
  EXPECT_EQ(Run(request).code(), StatusCode::kNotFound);
  EXPECT_TRUE(report_.contributing_partitions.empty());
}

TEST_F(AggregationTest, GuaranteeOutsideItsRangeIsRefused) {
  Start(1, 1);
  for (const double quality : {0.0, -1.0, 1.01, std::numeric_limits<double>::quiet_NaN()}) {
    AggregationRequest request = SumOf({0});
    request.aggregation_quality_min = quality;
    EXPECT_EQ(Run(request).code(), StatusCode::kInvalidArgument) << quality;
  }
}

TEST_F(AggregationTest, DeadlineThatPassedIsRefused) {
  Start(1, 1);
  EXPECT_EQ(Run(SumOf({0}), Duration(0)).code(), StatusCode::kInvalidArgument);
}

TEST_F(AggregationTest, LateResultIsLeftOutAndChangesNothingAfterwards) {
  Start(4, 4);
  AggregationRequest request = SumOf({0, 1, 2, 3});
  request.local = MethodName("LateSum");
  request.aggregation_quality_min = 0.75;
  ASSERT_TRUE(Run(request, milliseconds(100)).ok());
  EXPECT_EQ(report_.quality(), 0.75);
  ASSERT_EQ(report_.missing.size(), 1u);
  EXPECT_EQ(report_.missing[0].partition, PartitionId(0));
  EXPECT_EQ(report_.missing[0].reason.code(), StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(report_.ended_early.empty()) << "a deadline is not a time limit";
  cluster_->simulator().RunFor(seconds(1));
  EXPECT_EQ(result_.bytes(), "6");
  EXPECT_EQ(report_.contributing_partitions.size(), 3u);
}

TEST_F(AggregationTest, PartitionsThatATimeLimitEndedAreNamedWhereverTheyAreInTheTree) {
  Start(8, 8, "time_limit { lower_bound_ms: 50 upper_bound_ms: 50 }");
  for (const TreeScheme scheme :
       {TreeScheme::kBase, TreeScheme::kFlat, TreeScheme::kBinomial, TreeScheme::kLoadAdaptive}) {
    AggregationRequest request = SumOf({0, 1, 2, 3, 4, 5, 6, 7});
    request.local = MethodName("PartSum");
    request.scheme = scheme;
    request.aggregation_quality_min = 0.5;
    ASSERT_TRUE(Run(request).ok());
    EXPECT_LT(report_.duration, milliseconds(100));
    EXPECT_EQ(result_.bytes(), "27") << "of s0 what it had, of s1 nothing";
    EXPECT_EQ(report_.ended_early, (std::vector<PartitionId>{PartitionId(0), PartitionId(1)}));
    EXPECT_EQ(report_.contributing_partitions.front(), PartitionId(0));
    ASSERT_EQ(report_.missing.size(), 1u);
    EXPECT_EQ(report_.missing[0].partition, PartitionId(1));
  }
}

TEST_F(AggregationTest, SmallGuaranteeStillNeedsOnePartition) {
  Start(2, 2);
  AggregationRequest request = SumOf({7, 8});  // no node hosts them
  request.aggregation_quality_min = 0.01;
  EXPECT_EQ(Run(request).code(), StatusCode::kUnavailable);
  EXPECT_EQ(report_.missing.size(), 2u);
}

TEST_F(AggregationTest, HungReplicaCostsNothingWhileAnotherIsHealthy) {
  Start(8, 4);  // s0 and s4 hold partition 0
  cluster_->simulator().Pause("s0");
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(Run(SumOf({0, 1, 2, 3})).ok());
    EXPECT_EQ(result_.bytes(), "6");
    EXPECT_EQ(report_.quality(), 1.0);
  }
}

TEST_F(AggregationTest, StoppingCallerReceivesCancelled) {
  Start(2, 2);
  Status status;
  AggregationReport report;
  cluster_->SpawnOnClient([&](ClientSession& session) {
    AggregationRequest request = SumOf({0, 1});
    request.local = MethodName("Wait");
    Data result;
    status = Aggregate(session, request, &result, &report);
  });
  cluster_->simulator().RunFor(milliseconds(50));
  bool stopped = false;
  cluster_->client().Stop(milliseconds(50), [&] { stopped = true; });
  cluster_->simulator().RunFor(seconds(1));
  EXPECT_TRUE(stopped);
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_EQ(report.missing.size(), 2u);
}

constexpr TreeScheme kAllSchemes[] = {TreeScheme::kBase, TreeScheme::kFlat, TreeScheme::kBinomial,
                                      TreeScheme::kLoadAdaptive};

std::vector<uint32_t> FirstPartitions(uint32_t count) {
  std::vector<uint32_t> partitions(count);
  std::iota(partitions.begin(), partitions.end(), 0u);
  return partitions;
}

TEST_F(AggregationTest, EverySchemeGivesTheSequentialResult) {
  Start(13, 13);
  for (const TreeScheme scheme : kAllSchemes) {
    AggregationRequest request = SumOf(FirstPartitions(13));
    request.scheme = scheme;
    const Status status = Run(request);
    ASSERT_TRUE(status.ok()) << Name(scheme) << ": " << status;
    EXPECT_EQ(result_.bytes(), "78");
    EXPECT_EQ(report_.scheme, scheme);
    EXPECT_EQ(report_.contributing_partitions.size(), 13u);
    for (const AggregationServer& server : report_.servers) EXPECT_TRUE(server.record);
  }
}

TEST_F(AggregationTest, TreeDoesTheReductionsOnItsServers) {
  Start(16, 16);
  ASSERT_TRUE(Run(SumOf(FirstPartitions(16))).ok());
  int reductions = 0;
  int roots = 0;
  for (const AggregationServer& server : report_.servers) {
    reductions += server.record->reduction_count;
    EXPECT_EQ(server.record->reduction_count, server.record->child_count);
    roots += server.parent < 0 ? 1 : 0;
  }
  EXPECT_EQ(reductions, 15);
  EXPECT_EQ(roots, 1);
}

TEST_F(AggregationTest, ServerOfSeveralPartitionsReducesItsOwnFirst) {
  SimulatedClusterOptions options;
  options.spec = EchoSpec(3, 1);
  options.spec.mutable_services(0)->set_partition_count(12);
  for (auto& node : *options.spec.mutable_nodes()) {
    if (node.name() == "c") continue;
    const uint32_t first = 4 * static_cast<uint32_t>(node.name()[1] - '0');
    node.mutable_hosts(0)->clear_partitions();
    for (uint32_t p = first; p < first + 4; ++p) node.mutable_hosts(0)->add_partitions(p);
  }
  options.modules = CallTestModules(&records_);
  cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  ASSERT_TRUE(Run(SumOf(FirstPartitions(12))).ok());
  EXPECT_EQ(result_.bytes(), "66");
  ASSERT_EQ(report_.servers.size(), 3u);
  for (const AggregationServer& server : report_.servers) {
    EXPECT_EQ(server.partitions.size(), 4u);
    EXPECT_EQ(server.record->reduction_count, 3 + server.record->child_count);
  }
}

// Each server hangs in turn at its position in the tree; only its own partition is missing.
TEST_F(AggregationTest, HungServerCostsItsOwnPartitionWhereverItStands) {
  for (const TreeScheme scheme :
       {TreeScheme::kFlat, TreeScheme::kBinomial, TreeScheme::kLoadAdaptive}) {
    for (uint32_t hung = 0; hung < 7; ++hung) {
      Start(7, 7);
      ASSERT_TRUE(Run(SumOf(FirstPartitions(7))).ok());  // connections are there
      cluster_->simulator().Pause(StrCat("s", hung));
      AggregationRequest request = SumOf(FirstPartitions(7));
      request.scheme = scheme;
      request.aggregation_quality_min = 0.5;
      ASSERT_TRUE(Run(request).ok()) << Name(scheme) << " " << hung;
      EXPECT_EQ(result_.bytes(), StrCat(21 - hung)) << Name(scheme);
      ASSERT_EQ(report_.missing.size(), 1u) << Name(scheme);
      EXPECT_EQ(report_.missing[0].partition, PartitionId(hung));
    }
  }
}

TEST_F(AggregationTest, ServerThatDiesDuringTheCallCostsNothingWhileAReplicaLives) {
  for (uint32_t dying = 0; dying < 6; ++dying) {
    Start(12, 6);  // s0 and s6 hold partition 0
    AggregationRequest request = SumOf(FirstPartitions(6));
    request.local = MethodName("SlowSum");
    cluster_->simulator().At(cluster_->simulator().now() + milliseconds(20), [&] {
      cluster_->simulator().Crash(StrCat("s", dying), CrashKind::kProcess);
    });
    const Status status = Run(request);
    ASSERT_TRUE(status.ok()) << dying << ": " << status;
    EXPECT_EQ(result_.bytes(), "15");
  }
}

TEST_F(AggregationTest, DeadServerCostsNothingWhileAReplicaLives) {
  Start(12, 6);
  for (const char* dead : {"s0", "s3", "s5"}) {
    cluster_->simulator().Crash(dead, CrashKind::kProcess);
    const Status status = Run(SumOf(FirstPartitions(6)));
    ASSERT_TRUE(status.ok()) << dead << ": " << status;
    EXPECT_EQ(result_.bytes(), "15");
  }
}

// At most one call finds the hung server where it hurts; then it is believed to be loaded, and is a
// leaf.
TEST_F(AggregationTest, ServerThatDoesNotAnswerBecomesALeaf) {
  Start(8, 8);
  cluster_->simulator().Pause("s3");
  AggregationRequest request = SumOf(FirstPartitions(8));
  request.aggregation_quality_min = 0.1;
  (void)Run(request, milliseconds(200));
  for (int call = 0; call < 3; ++call) {
    ASSERT_TRUE(Run(request, milliseconds(200)).ok());
    for (const AggregationServer& server : report_.servers) {
      EXPECT_TRUE(server.parent < 0 ||
                  report_.servers[static_cast<size_t>(server.parent)].node != NodeId("s3"));
    }
  }
}

TEST_F(AggregationTest, DeadlineEndsWhatStillRunsBelow) {
  Start(6, 6);
  AggregationRequest request = SumOf(FirstPartitions(6));
  request.local = MethodName("Nap");  // an hour, or until it is cancelled
  request.aggregation_quality_min = 0.1;
  EXPECT_EQ(Run(request, milliseconds(300)).code(), StatusCode::kUnavailable);
  EXPECT_EQ(report_.missing.size(), 6u);
  EXPECT_LE(report_.duration, milliseconds(305));
  cluster_->simulator().RunFor(milliseconds(5));
  for (const auto& [host, record] : records_) EXPECT_EQ(record.running, 0) << host;
}

TEST_F(AggregationTest, CallThatCannotKeepItsGuaranteeEndsAtOnceAndWhatRunsBelow) {
  Start(13, 13);
  for (const TreeScheme scheme : kAllSchemes) {
    AggregationRequest request = SumOf(FirstPartitions(13));
    request.local = MethodName("RefusedSum");
    request.scheme = scheme;
    const Status status = Run(request);
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_NE(status.message().find("asked to refuse"), std::string::npos) << status;
    EXPECT_LE(report_.duration, milliseconds(10)) << Name(scheme);
    EXPECT_EQ(report_.missing.size(), 13u);
    cluster_->simulator().RunFor(milliseconds(5));
    for (const auto& [host, record] : records_) EXPECT_EQ(record.running, 0) << host;
  }
}

TEST_F(AggregationTest, CallThatAcceptsAnyQualityLetsWorkGoOn) {
  Start(6, 6);
  AggregationRequest request = SumOf(FirstPartitions(6));
  request.local = MethodName("RefusedSum");
  request.aggregation_quality_min = 1e-6;
  EXPECT_EQ(Run(request, milliseconds(300)).code(), StatusCode::kUnavailable);
  EXPECT_GE(report_.duration, milliseconds(290));
}

TEST_F(AggregationTest, CallerThatLeavesEndsWhatRunsBelow) {
  Start(6, 6);
  Status status;
  cluster_->SpawnOnClient([&](ClientSession& session) {
    AggregationRequest request = SumOf(FirstPartitions(6));
    request.local = MethodName("Nap");
    Data result;
    AggregationReport report;
    status = Aggregate(session, request, &result, &report);
  });
  cluster_->simulator().RunFor(milliseconds(100));
  int running = 0;
  for (const auto& [host, record] : records_) running += record.running;
  EXPECT_EQ(running, 6);
  cluster_->simulator().Crash("c", CrashKind::kProcess);
  cluster_->simulator().RunFor(milliseconds(50));
  for (const auto& [host, record] : records_) EXPECT_EQ(record.running, 0) << host;
}

// What waits for children holds no thread: a node serves other requests while thousands of
// aggregations wait.
TEST_F(AggregationTest, ThousandsOfWaitingAggregationsHoldNoThread) {
  constexpr int kCount = 10'000;
  SimulatedClusterOptions options;
  options.spec = EchoSpec(2, 2, "queue_length_max: 20000 concurrency: 2");
  options.modules = CallTestModules(&records_);
  cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  records_["s1"].naps = true;  // its share of NapSum takes long; that of s0 none
  int ended = 0;
  for (int i = 0; i < kCount; ++i) {
    cluster_->SpawnOnClient([&](ClientSession& session) {
      AggregationRequest request = SumOf({0, 1});
      request.local = MethodName("NapSum");
      request.deadline = this_thread::Now() + seconds(5);
      request.aggregation_quality_min = 0.5;
      Data result;
      AggregationReport report;
      EXPECT_TRUE(Aggregate(session, request, &result, &report).ok());
      ++ended;
    });
  }
  cluster_->simulator().RunFor(seconds(1));
  EXPECT_EQ(ended, 0);
  cluster_->RunOnClient([&](ClientSession& session) {
    Data response;
    EXPECT_TRUE(Call(session,
                     {ServiceName("echo"), PartitionId(0), MethodName("Name"), AccessMode::kRead},
                     Data(), &response)
                    .ok());
  });
  cluster_->simulator().RunFor(seconds(5));
  EXPECT_EQ(ended, kCount);
}

// Each member contributes once also by datagrams, even if they are lost or duplicated.
TEST_F(AggregationTest, DatagramsThatAreLostOrComeTwiceCostNothing) {
  for (const DisseminationMode mode :
       {DisseminationMode::kForward, DisseminationMode::kUnicast, DisseminationMode::kMulticast}) {
    for (const double loss : {0.0, 0.3, 1.0}) {
      for (const double duplication : {0.0, 0.5}) {
        Start(12, 12);
        LinkConditions links;
        links.datagram_loss = loss;
        links.datagram_duplicate = duplication;
        links.datagram_reorder = duplication;
        cluster_->simulator().SetLinks(links);
        for (int call = 0; call < 5; ++call) {
          AggregationRequest request = SumOf(FirstPartitions(12));
          request.dissemination = mode;
          ASSERT_TRUE(Run(request).ok()) << loss;
          EXPECT_EQ(result_.bytes(), "66");
        }
      }
    }
  }
}

TEST_F(AggregationTest, MembersSentTheirTasksByDatagramBeginAtOnce) {
  Duration forwarded{0};
  for (const DisseminationMode mode :
       {DisseminationMode::kForward, DisseminationMode::kMulticast}) {
    Start(32, 32);
    AggregationRequest request = SumOf(FirstPartitions(32));
    request.scheme = TreeScheme::kBinomial;
    request.local = MethodName("SlowSum");
    request.dissemination = mode;
    ASSERT_TRUE(Run(request).ok());  // connections are made
    ASSERT_TRUE(Run(request).ok());
    if (mode == DisseminationMode::kForward) forwarded = report_.duration;
  }
  EXPECT_LT(report_.duration, forwarded);
}

TEST_F(AggregationTest, HungServerWithDatagramCostsItsOwnPartition) {
  for (uint32_t hung = 0; hung < 6; ++hung) {
    Start(6, 6);
    ASSERT_TRUE(Run(SumOf(FirstPartitions(6))).ok());
    cluster_->simulator().Pause(StrCat("s", hung));
    AggregationRequest request = SumOf(FirstPartitions(6));
    request.dissemination = DisseminationMode::kMulticast;
    request.aggregation_quality_min = 0.5;
    ASSERT_TRUE(Run(request).ok()) << hung;
    EXPECT_EQ(result_.bytes(), StrCat(15 - hung));
  }
}

TEST_F(AggregationTest, OperatorThatDependsOnTheOrderIsFound) {
  SimulatedClusterOptions options;
  options.spec = EchoSpec(4, 4);
  options.modules = CallTestModules(&records_);
  options.recheck_one_in = 1;
  cluster_ = std::make_unique<SimulatedCluster>(std::move(options));
  ASSERT_TRUE(Run(SumOf({0, 1, 2, 3})).ok());
  AggregationRequest request = SumOf({0, 1, 2, 3});
  request.reduce = MethodName("Concatenate");
  const Status status = Run(request);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_NE(status.message().find("not commutative"), std::string::npos) << status;
}

TEST_F(AggregationTest, ResultOverTheMessageSizeIsAnErrorAndTheNodesSurvive) {
  Start(3, 3);
  AggregationRequest request = SumOf({0, 1, 2});
  request.local = MethodName("Huge");
  request.reduce = MethodName("Concatenate");
  request.local_parameters = Data(StrCat(30 << 20));
  EXPECT_EQ(Run(request).code(), StatusCode::kUnavailable);
  ASSERT_EQ(report_.missing.size(), 3u);
  EXPECT_EQ(report_.missing[0].reason.code(), StatusCode::kResourceExhausted);
  request.local_parameters = Data("10");
  ASSERT_TRUE(Run(request).ok());
  EXPECT_EQ(result_.bytes().size(), 30u);
}

TEST_F(AggregationTest, WhatComesAfterTheDeadlineIsDroppedAndCounted) {
  Start(6, 6);
  ASSERT_TRUE(Run(SumOf(FirstPartitions(6))).ok());
  cluster_->simulator().Pause("s3");
  AggregationRequest request = SumOf(FirstPartitions(6));
  request.aggregation_quality_min = 0.5;
  ASSERT_TRUE(Run(request, milliseconds(200)).ok());
  cluster_->simulator().Resume("s3");
  cluster_->simulator().RunFor(milliseconds(100));
  double pruned = 0;
  double late = 0;
  for (const char* node : {"c", "s0", "s1", "s2", "s3", "s4", "s5"}) {
    const MetricsRegistry& metrics = cluster_->node(node).metrics();
    pruned += metrics.Value("neptune_dac_pruned_children_total").value();
    late += metrics.Value("neptune_late_answers_total").value();
  }
  EXPECT_GE(pruned, 1);
  EXPECT_GE(late, 1);
}

class StreamAggregationTest : public AggregationTest {
 protected:
  static AggregationRequest NumbersOf(uint32_t partition_count, int count) {
    AggregationRequest request = SumOf(FirstPartitions(partition_count));
    request.local = MethodName("Numbers");
    request.reduce = MethodName("MergeNumbers");
    request.local_parameters = Data(StrCat(count));
    return request;
  }

  Status RunStream(AggregationRequest request, Duration timeout = seconds(5)) {
    Status status;
    numbers_.clear();
    cluster_->RunOnClient([&](ClientSession& session) {
      request.deadline = this_thread::Now() + timeout;
      status = AggregateStream(
          session, request,
          [&](const Data& message) {
            numbers_.push_back(std::stoi(message.bytes()));
            return numbers_.size() == take_max_ ? Aborted("enough") : OkStatus();
          },
          &report_);
    });
    return status;
  }

  std::vector<int> numbers_;
  size_t take_max_ = 0;
};

TEST_F(StreamAggregationTest, MergedStreamIsThatOfOnePartition) {
  Start(9, 9);
  for (const TreeScheme scheme :
       {TreeScheme::kFlat, TreeScheme::kBinomial, TreeScheme::kLoadAdaptive}) {
    AggregationRequest request = NumbersOf(9, 200);
    request.scheme = scheme;
    const Status status = RunStream(request);
    ASSERT_TRUE(status.ok()) << Name(scheme) << " " << status;
    ASSERT_EQ(numbers_.size(), 1800u);
    EXPECT_TRUE(std::is_sorted(numbers_.begin(), numbers_.end()));
    EXPECT_EQ(report_.contributing_partitions.size(), 9u);
  }
}

TEST_F(StreamAggregationTest, StreamThatBreaksOffIsMissingAndTheOthersGoOn) {
  Start(6, 6);
  records_["s4"].naps = true;
  AggregationRequest request = NumbersOf(6, 100);
  EXPECT_EQ(RunStream(request).code(), StatusCode::kUnavailable);
  request.aggregation_quality_min = 0.8;
  ASSERT_TRUE(RunStream(request).ok());
  EXPECT_EQ(numbers_.size(), 550u);
  ASSERT_EQ(report_.missing.size(), 1u);
  EXPECT_EQ(report_.missing[0].partition, PartitionId(4));
  EXPECT_EQ(report_.missing[0].reason.code(), StatusCode::kUnavailable);
}

TEST_F(StreamAggregationTest, DeadServerCostsNothingWhileAReplicaLives) {
  Start(10, 5);
  for (const char* dead : {"s0", "s3", "s4"}) {
    cluster_->simulator().Crash(dead, CrashKind::kProcess);
    const Status status = RunStream(NumbersOf(5, 20));
    if (report_.missing.empty()) {
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(numbers_.size(), 100u);
    }
  }
  ASSERT_TRUE(RunStream(NumbersOf(5, 20)).ok());
}

TEST_F(StreamAggregationTest, HungServerIsPrunedAtItsStage) {
  Start(6, 6);
  ASSERT_TRUE(RunStream(NumbersOf(6, 10)).ok());
  cluster_->simulator().Pause("s2");
  AggregationRequest request = NumbersOf(6, 10);
  request.aggregation_quality_min = 0.1;
  (void)RunStream(request, milliseconds(400));
  EXPECT_LE(report_.duration, milliseconds(405));
}

TEST_F(StreamAggregationTest, ErrorOfTheOperatorIsTheError) {
  Start(4, 4);
  AggregationRequest request = NumbersOf(4, 10);
  request.reduce = MethodName("FailingMerge");
  const Status status = RunStream(request);
  EXPECT_NE(status.message().find("asked to fail"), std::string::npos) << status;
}

TEST_F(StreamAggregationTest, ErrorOfWhoTakesTheMessagesEndsTheCall) {
  Start(4, 4);
  take_max_ = 25;
  EXPECT_EQ(RunStream(NumbersOf(4, 1000)).code(), StatusCode::kAborted);
  EXPECT_EQ(numbers_.size(), 25u);
  cluster_->simulator().RunFor(milliseconds(50));
  for (const auto& [host, record] : records_) EXPECT_EQ(record.running, 0) << host;
}

TEST_F(AggregationTest, TaskThatIsNoTaskIsRefused) {
  Start(1, 1);
  cluster_->RunOnClient([&](ClientSession& session) {
    for (const char* bytes : {"", "nonsense", "\x02"}) {
      Data response;
      const Status status = Call(session,
                                 {ServiceName("echo"), PartitionId(0),
                                  MethodName(std::string(kAggregateMethod)), AccessMode::kRead},
                                 Data(bytes), &response);
      EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status;
    }
  });
  ASSERT_TRUE(Run(SumOf({0})).ok());  // the node lives on
}

TEST_F(AggregationTest, UnknownLocalOperatorIsReportedForEachPartition) {
  Start(3, 3);
  AggregationRequest request = SumOf({0, 1, 2});
  request.local = MethodName("nonsense");
  request.aggregation_quality_min = 0.01;  // else the first refusal ends the call
  EXPECT_EQ(Run(request).code(), StatusCode::kUnavailable);
  ASSERT_EQ(report_.missing.size(), 3u);
  for (const MissingPartition& missing : report_.missing) {
    EXPECT_EQ(missing.reason.code(), StatusCode::kUnimplemented);
  }
}

}  // namespace
}  // namespace neptune
