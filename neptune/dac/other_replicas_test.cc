#include "neptune/dac/other_replicas.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "neptune/dac/calling_node.h"

namespace neptune {
namespace {

const ServiceName kService("index");

class OtherReplicasTest : public testing::Test {
 protected:
  OtherReplicasTest() {
    node_.See({node_.Server("s0", {0}), node_.Server("s1", {0, 1}), node_.Server("s2", {0})});
  }

  bool Exist(const std::vector<uint32_t>& partitions, const std::string& node) {
    return others_.Exist({partitions.begin(), partitions.end()}, NodeId(node));
  }
  // The node chosen for partition 0; "none".
  std::string Choose(OtherReplicas::Among among) {
    std::string chosen = "none";
    node_.Run([&] {
      const auto view = node_.loop().client->shared_view();
      const std::vector<Replica>& replicas = view->Replicas(kService, PartitionId(0));
      const auto choice = others_.Choose(PartitionId(0), replicas, among, kNever);
      if (choice) chosen = replicas[choice->index].node.value();
    });
    return chosen;
  }
  std::set<std::string> ChooseOften(OtherReplicas::Among among) {
    std::set<std::string> chosen;
    for (int i = 0; i < 100; ++i) chosen.insert(Choose(among));
    return chosen;
  }

  CallingNode node_;
  OtherReplicas others_{kService, node_.loop()};
};

TEST_F(OtherReplicasTest, PartitionThatOnlyTheNodeHasHasNoOther) {
  EXPECT_TRUE(Exist({0}, "s1"));
  EXPECT_FALSE(Exist({1}, "s1"));
  EXPECT_TRUE(Exist({1}, "s0")) << "the node need not have it";
  EXPECT_TRUE(Exist({1, 0}, "s1")) << "one of the partitions suffices";
  EXPECT_FALSE(Exist({2}, "s1")) << "no replica has it";
  EXPECT_FALSE(Exist({}, "s1"));
}

TEST_F(OtherReplicasTest, LostNodesAreNoOthers) {
  others_.Exclude(NodeId("s0"));
  EXPECT_TRUE(Exist({0}, "s1"));
  others_.Exclude(NodeId("s2"));
  EXPECT_FALSE(Exist({0}, "s1"));
  EXPECT_TRUE(Exist({0}, "s2"));
}

TEST_F(OtherReplicasTest, ReplicasThatJoinAreOthers) {
  EXPECT_FALSE(Exist({1}, "s1"));
  node_.See({node_.Server("s1", {0, 1}), node_.Server("s3", {1})});
  EXPECT_TRUE(Exist({1}, "s1"));
}

TEST_F(OtherReplicasTest, LostNodeIsNotChosenWhileThereIsAnother) {
  EXPECT_EQ(ChooseOften(OtherReplicas::Among::kUntried), (std::set<std::string>{"s0", "s1", "s2"}));
  others_.Exclude(NodeId("s1"));
  EXPECT_EQ(ChooseOften(OtherReplicas::Among::kUntried), (std::set<std::string>{"s0", "s2"}));
}

TEST_F(OtherReplicasTest, OnceAllAreLostOnlyTheRequestForAnyOfThemFindsOne) {
  for (const std::string name : {"s0", "s1", "s2"}) others_.Exclude(NodeId(name));
  EXPECT_EQ(Choose(OtherReplicas::Among::kUntried), "none");
  EXPECT_EQ(ChooseOften(OtherReplicas::Among::kAll), (std::set<std::string>{"s0", "s1", "s2"}));
}

}  // namespace
}  // namespace neptune
