// A lost server's subtree stays one tree, with the same partitions below it.

#include "neptune/dac/subtree.h"

#include <gtest/gtest.h>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

TreeMember Member(int number, uint16_t child_count) {
  return {NodeId(StrCat("s", number)),
          {kLoopbackAddress, 7000},
          {PartitionId(static_cast<uint32_t>(number))},
          child_count};
}

std::vector<TreeMember> LeavesOf(std::vector<int> numbers) {
  std::vector<TreeMember> leaves;
  for (const int number : numbers) leaves.push_back(Member(number, 0));
  return leaves;
}

// s0 ── s1 ── s2
//    └─ s3
std::vector<TreeMember> SomeTree() {
  return {Member(0, 2), Member(1, 1), Member(2, 0), Member(3, 0)};
}

TEST(SubtreeTest, FirstChildTakesThePlaceOfItsParent) {
  const std::vector<TreeMember> left = WithoutRoot(SomeTree(), {});
  EXPECT_EQ(left, (std::vector<TreeMember>{Member(1, 2), Member(2, 0), Member(3, 0)}));
  EXPECT_EQ(SubtreeLength(left), left.size());
}

TEST(SubtreeTest, LeavesAreBelowTheNewRoot) {
  const std::vector<TreeMember> left = WithoutRoot(SomeTree(), LeavesOf({7, 8}));
  EXPECT_EQ(left.front(), Member(1, 4));
  EXPECT_EQ(left.back(), Member(8, 0));
  EXPECT_EQ(SubtreeLength(left), left.size());
}

TEST(SubtreeTest, FirstLeafReplacesAServerWithoutChildren) {
  EXPECT_EQ(WithoutRoot(LeavesOf({0}), LeavesOf({7, 8})),
            (std::vector<TreeMember>{Member(7, 1), Member(8, 0)}));
}

TEST(SubtreeTest, NothingIsLeftOfALeaf) { EXPECT_TRUE(WithoutRoot(LeavesOf({0}), {}).empty()); }

TEST(SubtreeTest, PartitionsOfOneServerShareALeaf) {
  std::vector<TreeMember> leaves;
  for (const uint32_t partition : {4u, 5u, 6u}) {
    AddToLeaf(NodeId(partition == 5 ? "b" : "a"), {kLoopbackAddress, 7000}, PartitionId(partition),
              &leaves);
  }
  ASSERT_EQ(leaves.size(), 2u);
  EXPECT_EQ(leaves[0].partitions, (std::vector<PartitionId>{PartitionId(4), PartitionId(6)}));
  EXPECT_EQ(leaves[1].node, NodeId("b"));
}

TEST(SubtreeTest, PartitionsOfAllMembersAreListed) {
  std::vector<PartitionId> partitions = {PartitionId(9)};
  AppendPartitions(SomeTree(), &partitions);
  EXPECT_EQ(partitions.size(), 5u);
  EXPECT_EQ(partitions.back(), PartitionId(3));
}

}  // namespace
}  // namespace neptune
