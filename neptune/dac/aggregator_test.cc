#include "neptune/dac/aggregator.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "neptune/dac/aggregator_options.h"
#include "neptune/dac/calling_node.h"
#include "neptune/dac/dac.h"

namespace neptune {
namespace {

// Aggregations over servers that refuse connections.
class AggregatorTest : public testing::Test {
 protected:
  AggregatorTest() {
    AggregatorOptions options;
    options.poll_bind = node_.PortAt(0);
    AggregationEnvironment& environment = node_.environment();
    node_.OnLoop([&] {
      aggregator_ = *Aggregator::Make(environment.node, environment.loops, environment.client,
                                      metrics_, std::move(options));
      ASSERT_TRUE(aggregator_->AddLoop().ok());
    });
    node_.See({node_.Server("s0", {0, 1}), node_.Server("s1", {1, 2}), node_.Server("s2", {0})});
    request_.service = ServiceName("index");
    request_.partitions = {PartitionId(0), PartitionId(1), PartitionId(2)};
    request_.local = MethodName("Search");
    request_.reduce = MethodName("Merge");
  }
  ~AggregatorTest() override {
    node_.OnLoop([this] { aggregator_.reset(); });
  }

  MetricsRegistry metrics_;
  Choices choices_;
  CallingNode node_{
      {.make_policy = [this](Loop&) { return std::make_unique<FirstPolicy>(choices_); }}};
  std::unique_ptr<Aggregator> aggregator_;
  AggregationRequest request_;
};

TEST_F(AggregatorTest, EachChoiceOfACallIsConcludedOnce) {
  node_.Run([this] {
    ClientSession session(node_.environment().client);
    Data result;
    AggregationReport report;
    const Status status = aggregator_->Aggregate(session, request_, &result, &report);
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_EQ(report.missing.size(), 3u);
  });
  EXPECT_GE(choices_.nodes.size(), 3u);
  choices_.ExpectEachConcludedOnce();
}

TEST_F(AggregatorTest, EachChoiceOfAStreamIsConcludedOnce) {
  node_.Run([this] {
    ClientSession session(node_.environment().client);
    AggregationReport report;
    const Status status = aggregator_->AggregateStream(
        session, request_, [](const Data&) { return OkStatus(); }, &report);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(report.missing.size(), 3u);
  });
  EXPECT_GE(choices_.nodes.size(), 3u);
  choices_.ExpectEachConcludedOnce();
}

}  // namespace
}  // namespace neptune
