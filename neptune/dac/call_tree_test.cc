// The order of a call's servers is a preorder of its tree.

#include "neptune/dac/call_tree.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace neptune {
namespace {

using std::chrono::milliseconds;

std::vector<TreeServer> Servers(size_t count) {
  return std::vector<TreeServer>(count,
                                 {.local_cost = milliseconds(25), .reduce_cost = milliseconds(5)});
}

std::vector<int> ParentsOf(const CallTree& call) {
  std::vector<int> parents;
  for (const CallTree::Server& server : call.servers) parents.push_back(server.parent);
  return parents;
}

// Walks the preorder by the child counts alone, and returns the parent of each server.
std::vector<int> ParentsByOrder(const CallTree& call) {
  std::vector<int> parents(call.order.size(), -1);
  std::vector<std::pair<int, int>> open;  // servers with children to come, and how many
  for (const size_t server : call.order) {
    while (!open.empty() && open.back().second == 0) open.pop_back();
    if (!open.empty()) {
      parents[server] = open.back().first;
      --open.back().second;
    }
    open.emplace_back(static_cast<int>(server), call.servers[server].child_count);
  }
  return parents;
}

TEST(CallTreeTest, OrderIsAPreorderOfEveryTree) {
  RandomSource random(1);
  for (const TreeScheme scheme :
       {TreeScheme::kFlat, TreeScheme::kBinomial, TreeScheme::kLoadAdaptive}) {
    for (const size_t count : {1u, 2u, 7u, 24u}) {
      const auto call = FormCallTree(scheme, Servers(count), random);
      ASSERT_TRUE(call.ok()) << call.status();
      EXPECT_EQ(ParentsByOrder(*call), ParentsOf(*call)) << Name(scheme) << " " << count;
      const std::vector<int> parents = ParentsOf(*call);
      EXPECT_EQ(std::count(parents.begin(), parents.end(), -1), 1);
      EXPECT_EQ(parents[call->order.front()], -1);
    }
  }
}

TEST(CallTreeTest, CallerIsTheParentOfAllWithoutATree) {
  RandomSource random(1);
  const auto call = FormCallTree(TreeScheme::kBase, Servers(3), random);
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call->order, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(ParentsOf(*call), (std::vector<int>{-1, -1, -1}));
  for (const CallTree::Server& server : call->servers) EXPECT_EQ(server.child_count, 0);
}

TEST(CallTreeTest, NoServersFormNoTree) {
  RandomSource random(1);
  const auto call = FormCallTree(TreeScheme::kLoadAdaptive, {}, random);
  ASSERT_TRUE(call.ok());
  EXPECT_TRUE(call->order.empty());
}

}  // namespace
}  // namespace neptune
