// Membership of whole nodes: how fast the living learn of the dead, and who is wrongly forgotten.

#include <gtest/gtest.h>

#include "neptune/base/strings.h"
#include "neptune/node/simulated_cluster.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kServerCount = 16;

std::set<std::string> AllNodes() {
  std::set<std::string> names = {"c"};
  for (int i = 0; i < kServerCount; ++i) names.insert(StrCat("s", i));
  return names;
}

// Every living node knows exactly `expected`.
bool AllKnow(SimulatedCluster& cluster, const std::set<std::string>& expected) {
  for (const std::string& name : expected) {
    if (cluster.KnownNodes(name) != expected) return false;
  }
  return true;
}

uint64_t IncarnationOf(SimulatedCluster& cluster, const std::string& name) {
  return cluster.client().View()->nodes().at(NodeId(name)).incarnation;
}

TEST(MembershipTest, SixteenNodesKnowEachOtherSoon) {
  SimulatedCluster cluster(1, kServerCount, 4);
  EXPECT_TRUE(AllKnow(cluster, AllNodes()));
}

TEST(MembershipTest, KilledNodeIsForgottenByAllWithinSixPeriods) {
  for (const CrashKind kind : {CrashKind::kProcess, CrashKind::kMachine}) {
    SimulatedCluster cluster(2, kServerCount, 4);
    std::set<std::string> living = AllNodes();
    living.erase("s7");
    cluster.simulator().RunFor(milliseconds(700));
    cluster.simulator().Crash("s7", kind);
    EXPECT_TRUE(cluster.simulator().RunUntilTrue([&] { return AllKnow(cluster, living); },
                                                 cluster.simulator().now() + seconds(6)));
  }
}

TEST(MembershipTest, RestartedNodeIsKnownAtOnceWithItsNewIncarnation) {
  SimulatedCluster cluster(3, kServerCount, 4);
  const uint64_t before = IncarnationOf(cluster, "s3");
  cluster.simulator().RunFor(seconds(2));
  cluster.simulator().Restart("s3");
  cluster.simulator().RunFor(milliseconds(500));
  EXPECT_GT(IncarnationOf(cluster, "s3"), before);
  EXPECT_TRUE(AllKnow(cluster, AllNodes()));
}

TEST(MembershipTest, CutNodesForgetEachOtherAndMeetAgain) {
  SimulatedCluster cluster(4, kServerCount, 4);
  std::set<std::string> left = {"s0", "s1", "s2"};
  std::set<std::string> right = AllNodes();
  for (const std::string& name : left) right.erase(name);
  const LinkModel::CutId cut = cluster.simulator().Partition(left, right);
  cluster.simulator().RunFor(seconds(7));
  EXPECT_TRUE(AllKnow(cluster, left));
  EXPECT_TRUE(AllKnow(cluster, right));
  cluster.simulator().Heal(cut);
  cluster.simulator().RunFor(milliseconds(1500));
  EXPECT_TRUE(AllKnow(cluster, AllNodes()));
}

TEST(MembershipTest, AThirdOfAllDatagramsLostExpelsNobody) {
  SimulatedCluster cluster(5, kServerCount, 4);
  LinkConditions lossy = cluster.simulator().links();
  lossy.datagram_loss = 0.3;
  cluster.simulator().SetLinks(lossy);
  for (int second = 0; second < 60; ++second) {
    cluster.simulator().RunFor(seconds(1));
    ASSERT_TRUE(AllKnow(cluster, AllNodes())) << "after " << second << " s";
  }
}

}  // namespace
}  // namespace neptune
