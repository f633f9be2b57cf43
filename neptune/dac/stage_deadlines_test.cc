// Deadlines of one node's children, of whole trees, and what unresponsive servers cost under both
// policies.

#include "neptune/dac/stage_deadlines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/dac/reduction_tree.h"

namespace neptune {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kNow{seconds(100)};
constexpr TimePoint kDeadline = kNow + milliseconds(500);
constexpr StageCosts kCosts = {.reduce_time = milliseconds(1), .margin = milliseconds(3)};

std::vector<TimePoint> Deadlines(TimeoutPolicy policy, TimePoint own,
                                 std::vector<uint32_t> subtree_sizes,
                                 const StageCosts& costs = kCosts) {
  return ChildDeadlines(policy, own, subtree_sizes, costs, kNow);
}

// How long before the node's own deadline, in milliseconds.
std::vector<int64_t> Leads(std::vector<uint32_t> subtree_sizes) {
  std::vector<int64_t> leads;
  for (const TimePoint deadline :
       Deadlines(TimeoutPolicy::kStaged, kDeadline, std::move(subtree_sizes))) {
    leads.push_back((kDeadline - deadline) / milliseconds(1));
  }
  return leads;
}

TEST(TimeoutPolicyTest, NamesAreParsed) {
  EXPECT_EQ(*ParseTimeoutPolicy("uniform"), TimeoutPolicy::kUniform);
  EXPECT_EQ(*ParseTimeoutPolicy(Name(TimeoutPolicy::kStaged)), TimeoutPolicy::kStaged);
  EXPECT_EQ(ParseTimeoutPolicy("none").status().code(), StatusCode::kInvalidArgument);
}

TEST(ChildDeadlinesTest, LargestSubtreeHasTheEarliest) {
  EXPECT_EQ(Leads({2, 8, 1}), (std::vector<int64_t>{3 + 2, 3 + 3, 3 + 1}));
}

TEST(ChildDeadlinesTest, TiesGoByIndex) {
  EXPECT_EQ(Leads({4, 4, 1, 4}), (std::vector<int64_t>{3 + 2, 3 + 3, 3 + 1, 3 + 4}));
}

TEST(ChildDeadlinesTest, UniformIsTheNodesOwn) {
  EXPECT_EQ(Deadlines(TimeoutPolicy::kUniform, kDeadline, {5, 1}),
            (std::vector<TimePoint>{kDeadline, kDeadline}));
}

TEST(ChildDeadlinesTest, LeafHasNone) {
  EXPECT_TRUE(Deadlines(TimeoutPolicy::kStaged, kDeadline, {}).empty());
}

TEST(ChildDeadlinesTest, NeverInThePast) {
  EXPECT_EQ(Deadlines(TimeoutPolicy::kStaged, kNow + milliseconds(5), {1, 2, 3}),
            (std::vector<TimePoint>{kNow + milliseconds(1), kNow, kNow}));
}

TEST(ChildDeadlinesTest, OwnDeadlineInThePastGivesNow) {
  for (const TimeoutPolicy policy : {TimeoutPolicy::kUniform, TimeoutPolicy::kStaged}) {
    EXPECT_EQ(Deadlines(policy, kNow - seconds(1), {1, 2}), (std::vector<TimePoint>{kNow, kNow}));
  }
}

TEST(ChildDeadlinesTest, NeverStaysNever) {
  EXPECT_EQ(Deadlines(TimeoutPolicy::kStaged, kNever, {1, 2}),
            (std::vector<TimePoint>{kNever, kNever}));
}

TEST(ChildDeadlinesTest, AbsurdCostsAreSafe) {
  const StageCosts huge = {.reduce_time = Duration::max(), .margin = Duration::max()};
  EXPECT_EQ(Deadlines(TimeoutPolicy::kStaged, kDeadline, {1, 2}, huge),
            (std::vector<TimePoint>{kNow, kNow}));
  const StageCosts negative = {.reduce_time = -milliseconds(1), .margin = Duration::min()};
  EXPECT_EQ(Deadlines(TimeoutPolicy::kStaged, kDeadline, {1, 2}, negative),
            (std::vector<TimePoint>{kDeadline, kDeadline}));
}

// Every server's deadline, each node giving its children theirs.
std::vector<TimePoint> TreeDeadlines(TimeoutPolicy policy, const ReductionTree& tree) {
  std::vector<TimePoint> deadlines(tree.size(), kDeadline);
  std::vector<size_t> open = {tree.root()};
  while (!open.empty()) {
    const size_t server = open.back();
    open.pop_back();
    std::vector<uint32_t> sizes;
    for (const uint32_t child : tree.Children(server)) {
      sizes.push_back(static_cast<uint32_t>(tree.SubtreeSize(child)));
    }
    const std::vector<TimePoint> given = Deadlines(policy, deadlines[server], sizes);
    for (size_t i = 0; i < given.size(); ++i) {
      deadlines[tree.Children(server)[i]] = given[i];
      open.push_back(tree.Children(server)[i]);
    }
  }
  return deadlines;
}

// D_x by the paper's formula alone, from x upwards.
TimePoint FormulaDeadline(const ReductionTree& tree, size_t server) {
  if (tree.parent(server) < 0) return kDeadline;
  const auto above = static_cast<size_t>(tree.parent(server));
  const std::span<const uint32_t> siblings = tree.Children(above);
  const auto own = std::find(siblings.begin(), siblings.end(), server);
  int64_t rank = 1;
  for (auto sibling = siblings.begin(); sibling != siblings.end(); ++sibling) {
    const size_t size = tree.SubtreeSize(*sibling);
    rank += size < tree.SubtreeSize(server) || (size == tree.SubtreeSize(server) && sibling < own);
  }
  return FormulaDeadline(tree, above) - kCosts.reduce_time * rank - kCosts.margin;
}

ReductionTree RandomTree(RandomSource& random) {
  std::vector<TreeServer> servers(1 + random.Below(64));
  for (TreeServer& server : servers) {
    server = {microseconds(random.Below(3000)), Duration(0), microseconds(200)};
  }
  const TreeScheme schemes[] = {TreeScheme::kFlat, TreeScheme::kBinomial,
                                TreeScheme::kLoadAdaptive};
  return *FormTree(schemes[random.Below(3)], servers, random);
}

TEST(StagedTimeoutTest, LevelByLevelEqualsTheFormula) {
  RandomSource random(1);
  for (int round = 0; round < 200; ++round) {
    const ReductionTree tree = RandomTree(random);
    const std::vector<TimePoint> deadlines = TreeDeadlines(TimeoutPolicy::kStaged, tree);
    for (size_t i = 0; i < tree.size(); ++i) EXPECT_EQ(deadlines[i], FormulaDeadline(tree, i));
  }
}

// One aggregation: every server but the unresponsive has its own result after `local_time`; a node
// reduces what its children send, one after the other, and sends when all is there or its deadline
// comes; a message takes kLatency.
class AggregationModel {
 public:
  AggregationModel(const ReductionTree& tree, TimeoutPolicy policy, std::vector<bool> unresponsive,
                   RandomSource& random)
      : tree_(tree),
        deadlines_(TreeDeadlines(policy, tree)),
        unresponsive_(std::move(unresponsive)),
        random_(random) {}

  // Partitions, one a server, that the caller's answer does not have.
  size_t Lost() { return tree_.size() - Send(tree_.root()).contributions; }

 private:
  struct Message {
    TimePoint sent;
    size_t contributions = 0;  // 0: none comes
  };
  static constexpr Duration kLatency = milliseconds(2);  // less than the margin

  Message Send(size_t server) {
    if (unresponsive_[server]) return {};
    std::vector<Message> arrivals;
    bool all_there = true;
    for (const uint32_t child : tree_.Children(server)) {
      Message message = Send(child);
      if (message.contributions == 0) all_there = false;
      message.sent += kLatency;
      if (message.contributions > 0) arrivals.push_back(message);
    }
    std::sort(arrivals.begin(), arrivals.end(),
              [](const Message& a, const Message& b) { return a.sent < b.sent; });
    Message own = {kNow + microseconds(random_.Below(50'000)), 1};
    TimePoint free = own.sent;
    for (const Message& arrival : arrivals) {
      const TimePoint reduced = std::max(free, arrival.sent) + kCosts.reduce_time;
      if (reduced > deadlines_[server]) {
        all_there = false;
        break;
      }
      free = reduced;
      own.contributions += arrival.contributions;
    }
    own.sent = all_there ? free : deadlines_[server];
    return own;
  }

  const ReductionTree& tree_;
  const std::vector<TimePoint> deadlines_;
  const std::vector<bool> unresponsive_;
  RandomSource& random_;
};

std::vector<size_t> Leaves(const ReductionTree& tree) {
  std::vector<size_t> leaves;
  for (size_t i = 0; i < tree.size(); ++i) {
    if (tree.Children(i).empty() && i != tree.root()) leaves.push_back(i);
  }
  return leaves;
}

TEST(StagedTimeoutTest, UnresponsiveLeavesCostOnlyThemselves) {
  RandomSource random(2);
  for (int round = 0; round < 1000; ++round) {
    const ReductionTree tree = RandomTree(random);
    std::vector<size_t> leaves = Leaves(tree);
    std::shuffle(leaves.begin(), leaves.end(), random);
    leaves.resize(random.Below(leaves.size() + 1));
    std::vector<bool> unresponsive(tree.size(), false);
    for (const size_t leaf : leaves) unresponsive[leaf] = true;
    AggregationModel model(tree, TimeoutPolicy::kStaged, unresponsive, random);
    EXPECT_EQ(model.Lost(), leaves.size())
        << "round " << round << ", " << tree.size() << " servers";
  }
}

TEST(UniformTimeoutTest, NoPartitionIsLostIfAllAnswer) {
  RandomSource random(3);
  const ReductionTree tree = RandomTree(random);
  AggregationModel model(tree, TimeoutPolicy::kUniform, std::vector<bool>(tree.size()), random);
  EXPECT_EQ(model.Lost(), 0u);
}

ReductionTree BinomialTree(size_t count, RandomSource& random) {
  return *FormTree(TreeScheme::kBinomial, std::vector<TreeServer>(count), random);
}

size_t AncestorBelowRoot(const ReductionTree& tree, size_t server) {
  while (tree.Depth(server) > 1) server = static_cast<size_t>(tree.parent(server));
  return server;
}

TEST(UniformTimeoutTest, BinomialTreeLosesWhatThePaperSays) {
  RandomSource random(4);
  const ReductionTree tree = BinomialTree(64, random);
  std::vector<size_t> leaves = Leaves(tree);
  const auto size_above = [&](size_t leaf) {
    return tree.SubtreeSize(AncestorBelowRoot(tree, leaf));
  };
  std::stable_sort(leaves.begin(), leaves.end(),
                   [&](size_t a, size_t b) { return size_above(a) < size_above(b); });
  std::vector<bool> unresponsive(64, false);
  for (size_t k = 1; k <= leaves.size(); ++k) {
    unresponsive[leaves[k - 1]] = true;
    AggregationModel uniform(tree, TimeoutPolicy::kUniform, unresponsive, random);
    EXPECT_EQ(uniform.Lost(), std::min<size_t>(2 * std::bit_ceil(k) - 1, 63)) << k;
    AggregationModel staged(tree, TimeoutPolicy::kStaged, unresponsive, random);
    EXPECT_EQ(staged.Lost(), k);
  }
}

TEST(UniformTimeoutTest, OneLeafMayCostHalfTheTree) {
  RandomSource random(5);
  const ReductionTree tree = BinomialTree(64, random);
  std::vector<bool> unresponsive(64, false);
  for (const size_t leaf : Leaves(tree)) {
    if (tree.Depth(leaf) == tree.Height()) unresponsive[leaf] = true;
  }
  ASSERT_EQ(std::count(unresponsive.begin(), unresponsive.end(), true), 1);
  AggregationModel model(tree, TimeoutPolicy::kUniform, unresponsive, random);
  EXPECT_EQ(model.Lost(), 32u);
}

}  // namespace
}  // namespace neptune
