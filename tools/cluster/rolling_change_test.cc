#include "tools/cluster/rolling_change.h"

#include <gtest/gtest.h>

#include <set>

#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::Status;

const std::vector<std::string> kNodes = {"a", "b", "c"};

RollingChange SwapTo(const std::string& implementation) {
  RollingChange change{.what = "swap", .change = HostedChange{}};
  change.change->service = "tier1";
  change.change->parameters = {{"implementation", implementation}};
  change.implementation = implementation;
  for (const std::string& node : kNodes) change.nodes.push_back({node});
  return change;
}

// A cluster whose nodes run with what was decided when they last started, and whose changer may end
// before any step.
class FakeCluster final : public RollingHost {
 public:
  Status Save(const ClusterChanges& changes) override {
    NEPTUNE_RETURN_IF_ERROR(Live());
    saved = changes;
    return neptune::OkStatus();
  }
  Status MayTakeDown(const std::string& node) override {
    NEPTUNE_RETURN_IF_ERROR(Live());
    return refused.contains(node) ? neptune::FailedPrecondition("the last one") : Status();
  }
  Status Restart(const std::string& node, const std::string& service,
                 const std::string& implementation) override {
    NEPTUNE_RETURN_IF_ERROR(Live());
    EXPECT_EQ(service, "tier1");
    restarted.push_back(node);
    // The tool ends between the node's stop and its start: the supervisor starts it.
    StartAgain(node);
    NEPTUNE_RETURN_IF_ERROR(Live());
    if (broken.contains(node + runs[node])) return neptune::Unavailable("it does not start");
    if (implementation.empty()) return neptune::OkStatus();
    return runs[node] == implementation ? Status() : neptune::Unavailable("still the old one");
  }

  // What a node runs after it died.
  void StartAgain(const std::string& node) {
    const HostedChange* const hosted = FindHosted(saved, node, "tier1");
    runs[node] = hosted == nullptr ? "segment" : hosted->parameters.at("implementation");
  }

  ClusterChanges saved;
  std::map<std::string, std::string> runs = {{"a", "segment"}, {"b", "segment"}, {"c", "segment"}};
  std::set<std::string> refused;
  std::set<std::string> broken;  // node and what it does not start with
  std::vector<std::string> restarted;
  int steps_left = 1000;

 private:
  Status Live() {
    return steps_left-- > 0 ? neptune::OkStatus() : neptune::Cancelled("the changer has ended");
  }
};

Status GoOn(FakeCluster& cluster) {
  ClusterChanges changes = cluster.saved;  // what a later run of the tool finds
  return RunRollingChange(&changes, cluster);
}

TEST(RollingChangeTest, GoesThroughTheNodesInOrder) {
  FakeCluster cluster;
  cluster.saved.under_way = SwapTo("postings");
  ASSERT_TRUE(GoOn(cluster).ok());
  EXPECT_EQ(cluster.restarted, kNodes);
  for (const std::string& node : kNodes) EXPECT_EQ(cluster.runs[node], "postings");
  EXPECT_FALSE(cluster.saved.under_way);
  EXPECT_EQ(cluster.saved.hosted.size(), 3u);
}

TEST(RollingChangeTest, SecondSwapReplacesTheFirst) {
  FakeCluster cluster;
  cluster.saved.under_way = SwapTo("postings");
  ASSERT_TRUE(GoOn(cluster).ok());
  cluster.saved.under_way = SwapTo("other");
  ASSERT_TRUE(GoOn(cluster).ok());
  EXPECT_EQ(cluster.saved.hosted.size(), 3u);
  EXPECT_EQ(cluster.runs["c"], "other");
}

TEST(RollingChangeTest, NodeThatDoesNotStartReturnsAndTheRestStays) {
  FakeCluster cluster;
  cluster.broken = {"bpostings"};
  cluster.saved.under_way = SwapTo("postings");
  const Status status = GoOn(cluster);
  EXPECT_EQ(status.code(), neptune::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("it does not start"), std::string_view::npos);
  EXPECT_EQ(cluster.runs, (std::map<std::string, std::string>{
                              {"a", "postings"}, {"b", "segment"}, {"c", "segment"}}));
  EXPECT_FALSE(cluster.saved.under_way);
  EXPECT_EQ(FindHosted(cluster.saved, "b", "tier1"), nullptr);
}

TEST(RollingChangeTest, ReturnsToWhatWasSwappedBefore) {
  FakeCluster cluster;
  cluster.saved.under_way = SwapTo("other");
  ASSERT_TRUE(GoOn(cluster).ok());
  cluster.broken = {"apostings"};
  cluster.saved.under_way = SwapTo("postings");
  EXPECT_FALSE(GoOn(cluster).ok());
  EXPECT_EQ(cluster.runs["a"], "other");
}

TEST(RollingChangeTest, LastReplicaIsNotTakenDown) {
  FakeCluster cluster;
  cluster.refused = {"b"};
  cluster.saved.under_way = SwapTo("postings");
  EXPECT_FALSE(GoOn(cluster).ok());
  EXPECT_EQ(cluster.restarted, (std::vector<std::string>{"a"}));
  EXPECT_TRUE(cluster.saved.under_way);
  cluster.refused.clear();  // its other replica is back
  ASSERT_TRUE(GoOn(cluster).ok());
  EXPECT_EQ(cluster.runs["b"], "postings");
}

TEST(RollingChangeTest, RestartDecidesNothingElse) {
  class Restarts final : public RollingHost {
   public:
    Status Save(const ClusterChanges& changes) override {
      EXPECT_TRUE(changes.hosted.empty());
      return neptune::OkStatus();
    }
    Status MayTakeDown(const std::string&) override { return neptune::OkStatus(); }
    Status Restart(const std::string& node, const std::string& service,
                   const std::string& implementation) override {
      EXPECT_EQ(service + implementation, "");
      return neptune::OkStatus();
    }
  } host;
  ClusterChanges changes{.hosted = {}, .under_way = RollingChange{.what = "restart"}};
  for (const std::string& node : kNodes) changes.under_way->nodes.push_back({node});
  EXPECT_TRUE(RunRollingChange(&changes, host).ok());
}

// The tool ends before its n-th step, for every n; all nodes may die meanwhile. A later run
// resumes.
void EndAtEveryStep(const std::set<std::string>& broken,
                    const std::map<std::string, std::string>& runs_at_the_end) {
  for (int steps = 0;; ++steps) {
    SCOPED_TRACE(steps);
    FakeCluster cluster;
    cluster.broken = broken;
    cluster.saved.under_way = SwapTo("postings");
    cluster.steps_left = steps;
    const Status first = GoOn(cluster);
    const bool ended = cluster.steps_left < 0;
    if (ended) {
      for (const std::string& node : kNodes) cluster.StartAgain(node);
      cluster.steps_left = 1000;
      if (cluster.saved.under_way) (void)GoOn(cluster);
    }
    EXPECT_EQ(cluster.runs, runs_at_the_end);
    EXPECT_FALSE(cluster.saved.under_way);
    if (!ended) {
      EXPECT_EQ(first.ok(), broken.empty());
      EXPECT_GT(steps, 8);
      return;
    }
  }
}

TEST(RollingChangeTest, EndsAsDecidedWhereverItIsInterrupted) {
  EndAtEveryStep({}, {{"a", "postings"}, {"b", "postings"}, {"c", "postings"}});
}

TEST(RollingChangeTest, ReturnsWhereverItIsInterrupted) {
  EndAtEveryStep({"bpostings"}, {{"a", "postings"}, {"b", "segment"}, {"c", "segment"}});
}

}  // namespace
}  // namespace search::tools
