#include "tools/lab/aggregation/load_knowledge.h"

#include <gtest/gtest.h>

#include <chrono>

namespace search::lab {
namespace {

using neptune::LoadSource;
using neptune::NodeId;
using std::chrono::milliseconds;

const neptune::ServiceName kService("micro");
const neptune::TimePoint kNow(std::chrono::seconds(100));

TEST(LoadKnowledgeTest, AnnouncedLoadsIgnorePendingWorkInAnswersAndGossip) {
  AnnouncedLoads loads;
  const NodeId node("a");
  loads.OnReport(node, kService, {.pending = milliseconds(30)}, kNow, LoadSource::kAnnouncement);
  for (const LoadSource source : {LoadSource::kAnswer, LoadSource::kGossip}) {
    loads.OnReport(node, kService, {.pending = milliseconds(10)}, kNow, source);
    EXPECT_EQ(loads.mean_pending(), milliseconds(30));
  }
  loads.OnReport(node, kService, {.pending = milliseconds(20)}, kNow, LoadSource::kPoll);
  EXPECT_EQ(loads.mean_pending(), milliseconds(20));
}

TEST(LoadKnowledgeTest, MeasuredLoadsAreThoseOfTheMoment) {
  neptune::RandomSource random(1);
  neptune::Duration load = milliseconds(5);
  MeasuredLoads loads([&](const NodeId& node) {
    EXPECT_EQ(node, NodeId("a"));
    return load;
  });
  loads.OnAssigned(NodeId("a"), milliseconds(70), kNow);
  EXPECT_EQ(loads.Estimate(NodeId("a"), kService, kNow, random), milliseconds(5));
  load = milliseconds(8);
  EXPECT_EQ(loads.Estimate(NodeId("a"), kService, kNow, random), milliseconds(8));
  EXPECT_EQ(loads.Staleness(NodeId("a"), kService, kNow), 0);
}

}  // namespace
}  // namespace search::lab
