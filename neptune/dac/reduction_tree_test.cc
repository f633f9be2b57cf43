// Shapes of the schemes, the load-adaptive tree's properties, and slow obvious versions of its
// steps.

#include "neptune/dac/reduction_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
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

// Heights of all subtrees: each server lifts its ancestors.
std::vector<size_t> SubtreeHeights(const ReductionTree& tree) {
  std::vector<size_t> heights(tree.size(), 0);
  for (size_t i = 0; i < tree.size(); ++i) {
    for (auto above = static_cast<int32_t>(i); above >= 0; above = tree.parent(above)) {
      heights[above] = std::max(heights[above], tree.Depth(i) - tree.Depth(above));
    }
  }
  return heights;
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
  const std::vector<size_t> heights = SubtreeHeights(tree);
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

// Step 2 by looking at all servers each time.
std::vector<uint32_t> SlowAssignment(const Servers& servers) {
  std::vector<uint32_t> counts(servers.size(), 0);
  const auto work_with_one_more = [&](size_t i) {
    return servers[i].load + servers[i].local_cost + (counts[i] + 1) * servers[i].reduce_cost;
  };
  for (size_t step = 1; step < servers.size(); ++step) {
    size_t least = 0;
    for (size_t i = 1; i < servers.size(); ++i) {
      if (work_with_one_more(i) < work_with_one_more(least)) least = i;
    }
    ++counts[least];
  }
  return counts;
}

TEST(LoadAdaptiveTreeTest, AssignmentEqualsTheSlowOne) {
  RandomSource random(10);
  for (int round = 0; round < 500; ++round) {
    Servers servers(1 + random.Below(80));
    for (TreeServer& server : servers) {  // no two with the same work
      server = {Duration(random.Below(1'000'000'000)), Duration(random.Below(1'000'000)),
                Duration(1 + random.Below(100'000'000))};
    }
    EXPECT_EQ(AssignReductions(servers, random), SlowAssignment(servers)) << round;
  }
}

// Servers to which step 2 gives these numbers of reductions, which descend and sum to their number
// less one; lighter servers come first.
Servers ServersForCounts(const std::vector<uint32_t>& counts) {
  Servers servers = Alike(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    servers[i].load = kReduce * (counts[0] - counts[i]) + Duration(i + 1);
  }
  return servers;
}

TEST(LoadAdaptiveTreeTest, ServersForCountsAreGivenThem) {
  RandomSource random(1);
  const std::vector<uint32_t> counts = {5, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(AssignReductions(ServersForCounts(counts), random), counts);
}

// Every way to give n - 1 reductions to n servers.
void ForEachAssignment(size_t count,
                       const std::function<void(const std::vector<uint32_t>&)>& visit) {
  std::vector<uint32_t> counts;
  const std::function<void(uint32_t, uint32_t)> extend = [&](uint32_t rest, uint32_t most) {
    if (rest == 0) {
      std::vector<uint32_t> all = counts;
      all.resize(count, 0);
      visit(all);
      return;
    }
    for (uint32_t next = std::min(rest, most); next > 0; --next) {
      counts.push_back(next);
      extend(rest - next, next);
      counts.pop_back();
    }
  };
  extend(static_cast<uint32_t>(count) - 1, static_cast<uint32_t>(count) - 1);
}

TEST(LoadAdaptiveTreeTest, EveryAssignmentOfUpTo32ServersKeepsTheProperties) {
  for (size_t count = 1; count <= 32; ++count) {
    ForEachAssignment(count, [](const std::vector<uint32_t>& counts) {
      const Servers servers = ServersForCounts(counts);
      ASSERT_EQ(Wrong(Form(TreeScheme::kLoadAdaptive, servers), servers), "")
          << testing::PrintToString(counts);
    });
  }
}

// `servers_with[k]` servers are given k reductions each, and as many none as makes a tree.
std::vector<uint32_t> CountsOf(const std::vector<size_t>& servers_with) {
  std::vector<uint32_t> counts;
  for (size_t k = servers_with.size() - 1; k > 0; --k) {
    counts.insert(counts.end(), servers_with[k], static_cast<uint32_t>(k));
  }
  counts.resize(std::accumulate(counts.begin(), counts.end(), size_t{1}), 0);
  return counts;
}

// Two servers with four reductions above one with three: with the subtree of the latter replaced
// and theirs kept, they would be shallower than it.
TEST(LoadAdaptiveTreeTest, KeptServersAreNotShallowerThanReplacedSubtrees) {
  const Servers servers = ServersForCounts(CountsOf({0, 40, 1, 1, 2}));
  ASSERT_EQ(servers.size(), 54u);
  EXPECT_EQ(Wrong(Form(TreeScheme::kLoadAdaptive, servers), servers), "");
}

TEST(LoadAdaptiveTreeTest, AssignmentsWithLongListsKeepTheProperties) {
  RandomSource random(12);
  for (int round = 0; round < 2000; ++round) {
    std::vector<size_t> servers_with(3 + random.Below(4));
    for (size_t k = 2; k < servers_with.size(); ++k) servers_with[k] = random.Below(5);
    servers_with[1] = random.Below(150);
    const std::vector<uint32_t> counts = CountsOf(servers_with);
    const Servers servers = ServersForCounts(counts);
    ASSERT_EQ(Wrong(Form(TreeScheme::kLoadAdaptive, servers), servers), "")
        << testing::PrintToString(servers_with);
  }
}

// Steps 3 and 4 as figure 9 has them but for the tie rule, over ranks.
std::vector<int32_t> Figure9(const std::vector<uint32_t>& counts) {
  std::vector<int32_t> parents = {-1};
  for (size_t rank = 0; rank < counts.size(); ++rank) {
    parents.insert(parents.end(), counts[rank], static_cast<int32_t>(rank));
  }
  const std::vector<int32_t> filled = parents;
  const auto only_child = [&](int32_t rank) {
    return std::find(filled.begin(), filled.end(), rank) - filled.begin();
  };
  for (size_t head = 0; head < counts.size(); ++head) {
    const bool is_head = counts[head] == 1 && (head == 0 || counts[filled[head]] != 1);
    if (!is_head) continue;
    std::vector<int32_t> list = {static_cast<int32_t>(head)};
    while (counts[list.back()] == 1) list.push_back(static_cast<int32_t>(only_child(list.back())));
    // Positions of a binomial tree by their children, then their depth.
    std::vector<uint32_t> positions(list.size());
    std::vector<uint32_t> child_counts(list.size(), 0);
    for (uint32_t i = 0; i < list.size(); ++i) positions[i] = i;
    for (uint32_t i = 1; i < list.size(); ++i) ++child_counts[i & (i - 1)];
    std::stable_sort(positions.begin(), positions.end(), [&](uint32_t a, uint32_t b) {
      return child_counts[a] != child_counts[b] ? child_counts[a] > child_counts[b]
                                                : std::popcount(a) < std::popcount(b);
    });
    std::vector<int32_t> server_at(list.size());
    for (size_t i = 0; i < list.size(); ++i) server_at[positions[i]] = list[i];
    for (uint32_t i = 1; i < list.size(); ++i) parents[server_at[i]] = server_at[i & (i - 1)];
  }
  return parents;
}

bool HasLongList(const std::vector<uint32_t>& counts) {
  const auto first_one = std::find(counts.begin(), counts.end(), 1u) - counts.begin();
  if (static_cast<size_t>(first_one) == counts.size()) return false;
  size_t first_child = 1;
  for (int64_t i = 0; i < first_one; ++i) first_child += counts[i];
  return counts[first_child] == 1;
}

TEST(LoadAdaptiveTreeTest, WithoutLongListsTheTreeIsFigure9s) {
  for (size_t count = 1; count <= 24; ++count) {
    ForEachAssignment(count, [](const std::vector<uint32_t>& counts) {
      if (HasLongList(counts)) return;
      const Servers servers = ServersForCounts(counts);
      ASSERT_EQ(Parents(Form(TreeScheme::kLoadAdaptive, servers)), Figure9(counts))
          << testing::PrintToString(counts);
    });
  }
}

TEST(LoadAdaptiveTreeTest, UpToFiveServersMakeFigure9sTree) {
  for (size_t count = 1; count <= 5; ++count) {
    ForEachAssignment(count, [](const std::vector<uint32_t>& counts) {
      const Servers servers = ServersForCounts(counts);
      ASSERT_EQ(Parents(Form(TreeScheme::kLoadAdaptive, servers)), Figure9(counts))
          << testing::PrintToString(counts);
    });
  }
}

// Why step 4 begins higher up here: two lists of five and four below a root with two children.
TEST(LoadAdaptiveTreeTest, Figure9AsPrintedGivesALighterServerFewerChildren) {
  const std::vector<uint32_t> counts = {2, 1, 1, 1, 1, 1, 1, 1, 0, 0};
  const Servers servers = ServersForCounts(counts);
  const StatusOr<ReductionTree> printed = ReductionTree::FromParents(Figure9(counts));
  ASSERT_TRUE(printed.ok()) << printed.status();
  EXPECT_EQ(Wrong(*printed, servers), "0 is lighter than 1 and has fewer children");
  EXPECT_EQ(Wrong(Form(TreeScheme::kLoadAdaptive, servers), servers), "");
}

TEST(LoadAdaptiveTreeTest, EqualLoadsMakeABinomialTree) {
  for (size_t count = 1; count <= 130; ++count) {
    const ReductionTree adaptive = Form(TreeScheme::kLoadAdaptive, Alike(count));
    const ReductionTree binomial = Form(TreeScheme::kBinomial, Alike(count));
    std::multiset<std::pair<size_t, size_t>> adaptive_places;
    std::multiset<std::pair<size_t, size_t>> binomial_places;
    for (size_t i = 0; i < count; ++i) {
      adaptive_places.insert({adaptive.Depth(i), adaptive.SubtreeSize(i)});
      binomial_places.insert({binomial.Depth(i), binomial.SubtreeSize(i)});
    }
    EXPECT_EQ(adaptive_places, binomial_places) << count;
  }
}

TEST(LoadAdaptiveTreeTest, AmongEqualsAnyServerBecomesTheRoot) {
  RandomSource random(1);
  std::map<size_t, int> roots;
  for (int i = 0; i < 8000; ++i) {
    ++roots[FormTree(TreeScheme::kLoadAdaptive, Alike(8), random)->root()];
  }
  ASSERT_EQ(roots.size(), 8u);
  for (const auto& [root, count] : roots) EXPECT_NEAR(count, 1000, 150);
}

TEST(LoadAdaptiveTreeTest, HeavyHalfAreLeaves) {
  RandomSource random(11);
  for (int round = 0; round < 500; ++round) {
    Servers servers = Alike(2 + random.Below(100));
    const size_t heavy_count = servers.size() / 2;
    for (size_t i = 0; i < heavy_count; ++i) servers[i].load = std::chrono::seconds(1);
    const ReductionTree tree = Form(TreeScheme::kLoadAdaptive, servers, random.Next());
    for (size_t i = 0; i < heavy_count; ++i) EXPECT_TRUE(tree.Children(i).empty());
  }
}

Duration Exponential(RandomSource& random, Duration mean) {
  return Duration(static_cast<int64_t>(random.Exponential(static_cast<double>(mean.count()))));
}

// Loads of every kind that the properties must stand.
struct LoadKind {
  std::string name;
  std::function<TreeServer(RandomSource&)> draw;
};

std::vector<LoadKind> LoadKinds() {
  return {
      {"alike",
       [](RandomSource&) {
         return TreeServer{Duration(0), kReduce, kReduce};
       }},
      {"few values",
       [](RandomSource& random) {
         return TreeServer{kReduce * static_cast<int64_t>(random.Below(4)), kReduce, kReduce};
       }},
      {"within a reduction",
       [](RandomSource& random) {
         return TreeServer{Duration(random.Below(kReduce.count())), kReduce, kReduce};
       }},
      {"exponential, half a reduction",
       [](RandomSource& random) {
         return TreeServer{Exponential(random, kReduce / 2), kReduce, kReduce};
       }},
      {"exponential, three reductions",
       [](RandomSource& random) {
         return TreeServer{Exponential(random, kReduce * 3), kReduce, kReduce};
       }},
      {"a few idle",
       [](RandomSource& random) {
         return TreeServer{random.Below(8) == 0 ? Duration(0) : kReduce * 40, kReduce, kReduce};
       }},
      {"two kinds of machines",
       [](RandomSource& random) {
         const int64_t slow = random.Below(2) == 0 ? 1 : 2;
         return TreeServer{Exponential(random, kReduce), kReduce * 5 * slow, kReduce * slow};
       }},
      {"any machines",
       [](RandomSource& random) {
         return TreeServer{Exponential(random, kReduce), Exponential(random, kReduce),
                           Exponential(random, kReduce) + Duration(1)};
       }},
      {"reductions cost nothing",
       [](RandomSource& random) {
         return TreeServer{Duration(random.Below(4)), Duration(0), Duration(1)};
       }},
  };
}

TEST(LoadAdaptiveTreeTest, RandomLoadsKeepTheProperties) {
  RandomSource random(20);
  for (const LoadKind& kind : LoadKinds()) {
    for (int round = 0; round < 1000; ++round) {
      Servers servers(1 + random.Below(64));
      for (TreeServer& server : servers) server = kind.draw(random);
      ASSERT_EQ(Wrong(Form(TreeScheme::kLoadAdaptive, servers, random.Next()), servers), "")
          << kind.name << ", round " << round;
    }
  }
}

TEST(LoadAdaptiveTreeTest, LargeTreesKeepTheProperties) {
  RandomSource random(21);
  for (const LoadKind& kind : LoadKinds()) {
    for (const size_t count : {511, 512, 513, 1000}) {
      Servers servers(count);
      for (TreeServer& server : servers) server = kind.draw(random);
      ASSERT_EQ(Wrong(Form(TreeScheme::kLoadAdaptive, servers, random.Next()), servers), "")
          << kind.name << ", " << count << " servers";
    }
  }
}

TEST(LoadAdaptiveTreeTest, AbsurdTimesMakeATree) {
  const Duration values[] = {Duration::min(), Duration(-1), Duration(0), Duration::max()};
  RandomSource random(22);
  for (int round = 0; round < 300; ++round) {
    Servers servers(1 + random.Below(40));
    for (TreeServer& server : servers) {
      server = {values[random.Below(4)], values[random.Below(4)], values[random.Below(4)]};
    }
    const ReductionTree tree = Form(TreeScheme::kLoadAdaptive, servers, random.Next());
    EXPECT_EQ(tree.SubtreeSize(tree.root()), servers.size());
    EXPECT_LE(tree.Height(), CeilLog2(servers.size()));
  }
}

TEST(LoadAdaptiveTreeTest, MostServersAllowedMakeATree) {
  RandomSource random(23);
  Servers servers(kReductionServerCountMax);
  for (TreeServer& server : servers) server = {Duration(random.Below(1000)), kReduce, kReduce};
  EXPECT_LE(Form(TreeScheme::kLoadAdaptive, servers).Height(), 16u);
}

}  // namespace
}  // namespace neptune
