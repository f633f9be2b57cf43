// Shapes of the schemes, the load-adaptive tree's properties, and slow obvious versions of its steps.

#include "neptune/dac/reduction_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using std::chrono::microseconds;
using Servers = std::vector<TreeServer>;

constexpr Duration kReduce = microseconds(100);

ReductionTree Form(TreeScheme scheme, const Servers& servers, uint64_t seed = 1) {
  RandomSource random(seed);
  StatusOr<ReductionTree> tree = FormTree(scheme, servers, random);
  EXPECT_TRUE(tree.ok()) << tree.status();
  return *std::move(tree);
}

Servers Alike(size_t count) { return Servers(count, {Duration(0), microseconds(500), kReduce}); }

uint32_t CeilLog2(size_t value) { return static_cast<uint32_t>(std::bit_width(value - 1)); }

std::vector<int32_t> Parents(const ReductionTree& tree) {
  return {tree.parents().begin(), tree.parents().end()};
}

size_t SubtreeHeight(const ReductionTree& tree, size_t server) {
  size_t height = 0;
  for (const uint32_t child : tree.Children(server)) {
    height = std::max(height, 1 + SubtreeHeight(tree, child));
  }
  return height;
}

// Load and cost of A are not above B's and one is below.
bool Lighter(const TreeServer& a, const TreeServer& b) {
  const Duration own_a = a.load + a.local_cost;
  const Duration own_b = b.load + b.local_cost;
  return own_a <= own_b && a.reduce_cost <= b.reduce_cost &&
         (own_a < own_b || a.reduce_cost < b.reduce_cost);
}

// Empty if the tree has the paper's properties, else what is wrong.
std::string Wrong(const ReductionTree& tree, const Servers& servers) {
  if (tree.Height() > CeilLog2(servers.size())) return StrCat("height ", tree.Height());
  std::vector<size_t> heights;
  for (size_t i = 0; i < servers.size(); ++i) heights.push_back(SubtreeHeight(tree, i));
  for (size_t a = 0; a < servers.size(); ++a) {
    for (size_t b = 0; b < servers.size(); ++b) {
      if (!Lighter(servers[a], servers[b])) continue;
      if (tree.Children(a).size() < tree.Children(b).size()) {
        return StrCat(a, " is lighter than ", b, " and has fewer children");
      }
      if (tree.Depth(a) == tree.Depth(b) && heights[a] < heights[b]) {
        return StrCat(a, " is lighter than ", b, " and has a shallower subtree");
      }
    }
  }
  return "";
}

TEST(TreeSchemeTest, NamesAreParsed) {
  for (const TreeScheme scheme :
       {TreeScheme::kBase, TreeScheme::kFlat, TreeScheme::kBinomial, TreeScheme::kLoadAdaptive}) {
    EXPECT_EQ(*ParseTreeScheme(Name(scheme)), scheme);
  }
}

TEST(TreeSchemeTest, UnknownNameIsRefused) {
  EXPECT_EQ(ParseTreeScheme("LAT").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ParseTreeScheme("").status().code(), StatusCode::kInvalidArgument);
}

TEST(ReductionTreeTest, ParentsGiveChildrenSizesAndDepths) {
  const StatusOr<ReductionTree> made = ReductionTree::FromParents({2, 0, -1, 2, 0, 3, 0});
  ASSERT_TRUE(made.ok()) << made.status();
  const ReductionTree& tree = *made;
  EXPECT_EQ(tree.size(), 7u);
  EXPECT_EQ(tree.root(), 2u);
  EXPECT_EQ(tree.parent(2), -1);
  EXPECT_EQ(tree.parent(5), 3);
  EXPECT_EQ(tree.Height(), 2u);
  EXPECT_EQ(tree.SubtreeSize(2), 7u);
  EXPECT_EQ(tree.SubtreeSize(0), 4u);
  EXPECT_EQ(tree.Depth(3), 1u);
  EXPECT_EQ(tree.Depth(5), 2u);
  const auto children = tree.Children(0);
  EXPECT_EQ(std::vector<uint32_t>(children.begin(), children.end()),
            (std::vector<uint32_t>{1, 4, 6}));
  EXPECT_TRUE(tree.Children(5).empty());
}

TEST(ReductionTreeTest, ChildrenWithLargeSubtreesComeFirst) {
  const StatusOr<ReductionTree> tree = ReductionTree::FromParents({-1, 0, 0, 2, 0, 4, 5});
  ASSERT_TRUE(tree.ok()) << tree.status();
  const auto children = tree->Children(0);
  EXPECT_EQ(std::vector<uint32_t>(children.begin(), children.end()),
            (std::vector<uint32_t>{4, 2, 1}));
}

TEST(ReductionTreeTest, WhatIsNoTreeIsRefused) {
  const std::map<std::string, std::vector<int32_t>> cases = {
      {"no server", {}},       {"no root", {1, 0}},         {"two roots", {-1, -1}},
      {"a cycle", {-1, 2, 1}}, {"its own parent", {-1, 1}}, {"parent out of range", {-1, 2}},
      {"negative", {-1, -2}},
  };
  for (const auto& [what, parents] : cases) {
    EXPECT_EQ(ReductionTree::FromParents(parents).status().code(), StatusCode::kInvalidArgument)
        << what;
  }
}

TEST(FormTreeTest, NoServerIsRefused) {
  RandomSource random(1);
  EXPECT_EQ(FormTree(TreeScheme::kLoadAdaptive, {}, random).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(FormTreeTest, BaseHasNoTree) {
  RandomSource random(1);
  EXPECT_EQ(FormTree(TreeScheme::kBase, Alike(3), random).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(FormTreeTest, TooManyServersAreRefused) {
  RandomSource random(1);
  EXPECT_EQ(
      FormTree(TreeScheme::kFlat, Servers(kReductionServerCountMax + 1), random).status().code(),
      StatusCode::kInvalidArgument);
}

TEST(FormTreeTest, OneServerIsTheRoot) {
  for (const TreeScheme scheme :
       {TreeScheme::kFlat, TreeScheme::kBinomial, TreeScheme::kLoadAdaptive}) {
    const ReductionTree tree = Form(scheme, Alike(1));
    EXPECT_EQ(tree.root(), 0u);
    EXPECT_EQ(tree.Height(), 0u);
    EXPECT_TRUE(tree.Children(0).empty());
  }
}

TEST(FormTreeTest, SameSeedSameTree) {
  for (const TreeScheme scheme :
       {TreeScheme::kFlat, TreeScheme::kBinomial, TreeScheme::kLoadAdaptive}) {
    EXPECT_EQ(Parents(Form(scheme, Alike(50), 7)), Parents(Form(scheme, Alike(50), 7)));
    EXPECT_NE(Parents(Form(scheme, Alike(50), 7)), Parents(Form(scheme, Alike(50), 8)));
  }
}

TEST(FlatTreeTest, AllOthersAreChildrenOfTheRoot) {
  const ReductionTree tree = Form(TreeScheme::kFlat, Alike(9));
  EXPECT_EQ(tree.Children(tree.root()).size(), 8u);
  EXPECT_EQ(tree.Height(), 1u);
}

TEST(FlatTreeTest, AnyServerBecomesTheRoot) {
  RandomSource random(1);
  std::map<size_t, int> roots;
  for (int i = 0; i < 8000; ++i) ++roots[FormTree(TreeScheme::kFlat, Alike(8), random)->root()];
  ASSERT_EQ(roots.size(), 8u);
  for (const auto& [root, count] : roots) EXPECT_NEAR(count, 1000, 150);
}

// How many servers of a binomial tree of 2^k stand at each depth: k over depth.
TEST(BinomialTreeTest, LevelsAreBinomialCoefficients) {
  const ReductionTree tree = Form(TreeScheme::kBinomial, Alike(32));
  std::map<size_t, int> levels;
  for (size_t i = 0; i < 32; ++i) ++levels[tree.Depth(i)];
  EXPECT_EQ(levels, (std::map<size_t, int>{{0, 1}, {1, 5}, {2, 10}, {3, 10}, {4, 5}, {5, 1}}));
}

TEST(BinomialTreeTest, RootHasLogarithmicallyManyChildrenForAnySize) {
  for (size_t count = 1; count <= 300; ++count) {
    const ReductionTree tree = Form(TreeScheme::kBinomial, Alike(count), count);
    EXPECT_EQ(tree.Children(tree.root()).size(), CeilLog2(count));
    EXPECT_EQ(tree.Height(), std::bit_width(count) - 1u) << count;
    EXPECT_EQ(tree.SubtreeSize(tree.root()), count);
  }
}

TEST(BinomialTreeTest, ServersArePlacedAtRandom) {
  RandomSource random(1);
  std::map<size_t, int> roots;
  for (int i = 0; i < 8000; ++i) ++roots[FormTree(TreeScheme::kBinomial, Alike(8), random)->root()];
  ASSERT_EQ(roots.size(), 8u);
  for (const auto& [root, count] : roots) EXPECT_NEAR(count, 1000, 150);
}

// Eight servers as in figure 10: A, B, C are given 4, 2 and 1 reductions.
//   A ── B ── C ── H    (A's other children D, E, F; B's other child G)
Servers Figure10() {
  Servers servers = Alike(8);
  const int pending[] = {100, 280, 390, 500, 520, 540, 560, 580};
  for (size_t i = 0; i < 8; ++i) servers[i].load = microseconds(pending[i]);
  return servers;
}

TEST(LoadAdaptiveTreeTest, Figure10AssignsFourReductionsToTheLightest) {
  RandomSource random(1);
  EXPECT_EQ(AssignReductions(Figure10(), random), (std::vector<uint32_t>{4, 2, 1, 0, 0, 0, 0, 0}));
}

TEST(LoadAdaptiveTreeTest, Figure10FillsTheTreeBreadthFirst) {
  const ReductionTree tree = Form(TreeScheme::kLoadAdaptive, Figure10());
  EXPECT_EQ(Parents(tree), (std::vector<int32_t>{-1, 0, 0, 0, 0, 1, 1, 2}));
}

TEST(LoadAdaptiveTreeTest, RandomLoadsKeepTheProperties) {
  RandomSource random(20);
  for (int round = 0; round < 2000; ++round) {
    Servers servers = Alike(1 + random.Below(64));
    for (TreeServer& server : servers) server.load = microseconds(random.Below(1000));
    EXPECT_EQ(Wrong(Form(TreeScheme::kLoadAdaptive, servers, random.Next()), servers), "") << round;
  }
}

}  // namespace
}  // namespace neptune
