// Aggregation over whole nodes: what is counted, what is missing, what fails.

#include <gtest/gtest.h>

#include "neptune/dac/dac.h"
#include "neptune/node/call_test_module.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class AggregationTest : public testing::Test {
 protected:
  void Start(int node_count, int partition_count) {
    SimulatedClusterOptions options;
    options.spec = EchoSpec(node_count, partition_count);
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
  cluster_->simulator().RunFor(seconds(1));
  EXPECT_EQ(result_.bytes(), "6");
  EXPECT_EQ(report_.contributing_partitions.size(), 3u);
}

TEST_F(AggregationTest, SmallGuaranteeStillNeedsOnePartition) {
  Start(2, 2);
  AggregationRequest request = SumOf({7, 8});  // nobody has them
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

TEST_F(AggregationTest, CallerThatStopsIsToldSo) {
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

}  // namespace
}  // namespace neptune
