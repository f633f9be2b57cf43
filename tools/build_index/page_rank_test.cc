#include "tools/build_index/page_rank.h"

#include <cmath>
#include <numeric>
#include <random>

#include "gtest/gtest.h"

namespace search::tools {
namespace {

using Links = std::vector<LinkGraph::Link>;

// Solves (I - d M) r = (1 - d) / n by elimination, M the full matrix of the random reader.
std::vector<double> SolvePageRank(uint32_t count, const Links& links, double damping) {
  std::vector<std::vector<bool>> leads(count, std::vector<bool>(count));
  for (const auto& [from, to] : links) {
    if (from != to) leads[from][to] = true;
  }
  std::vector<std::vector<double>> rows(count, std::vector<double>(count + 1));
  for (uint32_t to = 0; to < count; ++to) {
    rows[to][count] = (1 - damping) / count;
    for (uint32_t from = 0; from < count; ++from) {
      const auto out = std::count(leads[from].begin(), leads[from].end(), true);
      const double share = out == 0 ? 1.0 / count : leads[from][to] ? 1.0 / out : 0.0;
      rows[to][from] = (from == to ? 1.0 : 0.0) - damping * share;
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t j = 0; j < count; ++j) {
      if (i == j) continue;
      const double factor = rows[j][i] / rows[i][i];
      for (uint32_t k = i; k <= count; ++k) rows[j][k] -= factor * rows[i][k];
    }
  }
  std::vector<double> ranks(count);
  for (uint32_t i = 0; i < count; ++i) ranks[i] = rows[i][count] / rows[i][i];
  return ranks;
}

TEST(PageRankTest, EqualsTheSolvedEquations) {
  std::mt19937_64 rng(17);
  for (int round = 0; round < 60; ++round) {
    const uint32_t count = 1 + rng() % 40;
    Links links(rng() % (3 * count));
    for (auto& link : links) link = {rng() % count, rng() % count};
    const auto expected = SolvePageRank(count, links, 0.85);
    const auto ranks = ComputePageRank(LinkGraph(count, links));
    for (uint32_t i = 0; i < count; ++i) ASSERT_NEAR(ranks[i], expected[i], 1e-8) << round;
  }
}

TEST(PageRankTest, SumsToOneWithDanglingPages) {
  const auto ranks = ComputePageRank(LinkGraph(4, {{0, 1}, {0, 2}, {1, 2}}));
  EXPECT_NEAR(std::accumulate(ranks.begin(), ranks.end(), 0.0), 1, 1e-12);
  EXPECT_GT(ranks[2], ranks[1]);
  EXPECT_GT(ranks[1], ranks[3]);
}

TEST(PageRankTest, OrderAndRepetitionOfLinksDoNotMatter) {
  const auto once = ComputePageRank(LinkGraph(3, {{0, 1}, {1, 2}, {2, 0}, {0, 2}}));
  const auto again =
      ComputePageRank(LinkGraph(3, {{0, 2}, {2, 0}, {1, 2}, {0, 1}, {0, 1}, {1, 1}, {0, 9}}));
  EXPECT_EQ(once, again);
}

TEST(PageRankTest, NoPagesGiveNoRanks) { EXPECT_TRUE(ComputePageRank(LinkGraph(0, {})).empty()); }

TEST(StaticRanksTest, SpanZeroToOneAndKeepTheOrder) {
  const LinkGraph graph(5, {{0, 1}, {2, 1}, {3, 1}, {1, 0}, {3, 0}});
  const auto ranks = ComputePageRank(graph);
  const auto statics = StaticRanks(graph, ranks);
  EXPECT_EQ(statics[1], 1);
  EXPECT_EQ(statics[2], 0);
  EXPECT_EQ(statics[3], 0);
  EXPECT_GT(statics[0], 0);
  EXPECT_LT(statics[0], 1);
}

TEST(StaticRanksTest, PagesWithoutLinksAreInTheMiddle) {
  const LinkGraph graph(6, {{0, 1}, {2, 1}, {1, 3}, {3, 0}});
  const auto statics = StaticRanks(graph, ComputePageRank(graph));
  EXPECT_EQ(statics[4], statics[5]);
  EXPECT_GT(statics[4], 0);
  EXPECT_LT(statics[4], 1);
}

TEST(StaticRanksTest, WithoutLinksEveryRankIsNeutral) {
  const LinkGraph graph(3, {});
  for (const float rank : StaticRanks(graph, ComputePageRank(graph))) {
    EXPECT_EQ(rank, kNeutralStaticRank);
  }
}

}  // namespace
}  // namespace search::tools
