// Guarantees are counted in partitions, and reports list each server and partition.

#include "neptune/dac/aggregation_report.h"

#include <gtest/gtest.h>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;

// Servers s0, s1, ... with one partition each, and one partition without a replica; s1 is the root
// of a flat tree.
CallPlan SomePlan(size_t server_count) {
  CallPlan plan;
  plan.scheme = TreeScheme::kFlat;
  for (uint32_t i = 0; i < server_count; ++i) {
    plan.placement.members.push_back(
        {NodeId(StrCat("s", i)), {kLoopbackAddress, 7000}, {PartitionId(i)}, 0});
    plan.placement.choices.emplace_back(i, ReplicaChoice());
    plan.loads.push_back({.load = milliseconds(i)});
    plan.tree.servers.push_back(i == 1
                                    ? CallTree::Server{-1, static_cast<uint16_t>(server_count - 1)}
                                    : CallTree::Server{1, 0});
  }
  plan.placement.missing = {{PartitionId(99), Unavailable("no live replica")}};
  plan.tree.order = {1};
  for (size_t i = 0; i < server_count; ++i) {
    if (i != 1) plan.tree.order.push_back(i);
  }
  return plan;
}

TEST(AggregationReportTest, GuaranteeIsRoundedUp) {
  EXPECT_EQ(NeededCount(1.0, 7), 7u);
  EXPECT_EQ(NeededCount(0.5, 7), 4u);
  EXPECT_EQ(NeededCount(0.9, 10), 9u) << "no more for an error of the last bit";
  EXPECT_EQ(NeededCount(1e-6, 10), 1u);
}

TEST(AggregationReportTest, PartitionsWithoutAReplicaUseUpTheGuarantee) {
  EXPECT_EQ(MissingCountMax(0.5, SomePlan(3).placement), 1);
  EXPECT_EQ(MissingCountMax(0.75, SomePlan(3).placement), 0);
  EXPECT_EQ(MissingCountMax(1.0, SomePlan(3).placement), 0);
}

TEST(AggregationReportTest, ServersAreListedInTheOrderOfTheTree) {
  AggregationAnswer answer;
  answer.contributing = {PartitionId(2), PartitionId(0)};
  answer.missing = {{PartitionId(1), DeadlineExceeded("late")}};
  answer.records = {
      {.node = NodeId("s2"), .queue_time = milliseconds(3), .local_end = milliseconds(10)}};
  const AggregationReport report = ReportOf(SomePlan(3), OkStatus(), answer);
  EXPECT_EQ(report.contributing_partitions,
            (std::vector<PartitionId>{PartitionId(0), PartitionId(2)}));
  ASSERT_EQ(report.missing.size(), 2u);
  EXPECT_EQ(report.missing[1].partition, PartitionId(99));
  ASSERT_EQ(report.servers.size(), 3u);
  EXPECT_EQ(report.servers[0].node, NodeId("s1"));
  EXPECT_EQ(report.servers[0].parent, -1);
  EXPECT_EQ(report.servers[2].parent, 0);
  EXPECT_EQ(report.servers[2].estimated_load, milliseconds(2));
  EXPECT_TRUE(report.servers[2].record);
  EXPECT_FALSE(report.servers[0].record);
  EXPECT_EQ(report.queue_time_max, milliseconds(3));
  EXPECT_EQ(report.run_time_max, milliseconds(7));
}

TEST(AggregationReportTest, AbandonedCallMissesEveryPartition) {
  const AggregationReport report = ReportOf(SomePlan(3), Cancelled("the node stops"), {});
  EXPECT_EQ(report.missing.size(), 4u);
  EXPECT_EQ(report.missing[0].reason, Cancelled("the node stops"));
}

TEST(AggregationReportTest, ReasonOfAFailureIsTheOneThatOthersFollowed) {
  AggregationRequest request;
  request.service = ServiceName("index");
  AggregationReport report;
  report.missing = {{PartitionId(0), Cancelled("gave up")},
                    {PartitionId(1), ResourceExhausted("queue full")}};
  const Status status = JudgeQuality(request, report);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("queue full"), std::string::npos) << status;
  request.aggregation_quality_min = 0.3;
  report.contributing_partitions = {PartitionId(2)};
  EXPECT_TRUE(JudgeQuality(request, report).ok());
}

TEST(CallPlanTest, TreeIsOneSubtreeAndNoTreeOneForEachServer) {
  CallPlan plan = SomePlan(3);
  plan.deadline = TimePoint(milliseconds(100));
  plan.wire.stage_margin = milliseconds(2);
  plan.wire.reduce_time = milliseconds(5);
  std::vector<Subtree> children = plan.CallersChildren(TimePoint());
  ASSERT_EQ(children.size(), 1u);
  EXPECT_EQ(SubtreeLength(children[0].members), 3u);
  EXPECT_EQ(children[0].deadline, TimePoint(milliseconds(93)));
  EXPECT_EQ(plan.CallersChildren(TimePoint(milliseconds(98)))[0].deadline,
            TimePoint(milliseconds(98)));
  plan.scheme = TreeScheme::kBase;
  children = plan.CallersChildren(TimePoint());
  ASSERT_EQ(children.size(), 3u);
  EXPECT_EQ(children[0].deadline, TimePoint(milliseconds(98)));
}

}  // namespace
}  // namespace neptune
