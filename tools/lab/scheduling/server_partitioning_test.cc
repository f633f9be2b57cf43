#include "tools/lab/scheduling/server_partitioning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"

namespace search::lab {
namespace {

using neptune::ClassNumber;
using neptune::NodeId;
using neptune::RandomSource;
using neptune::StrCat;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr ClassNumber kGold = 0;
constexpr ClassNumber kSilver = 1;
constexpr ClassNumber kBronze = 2;

std::vector<NodeId> Servers(size_t count) {
  std::vector<NodeId> servers;
  for (size_t i = 0; i < count; ++i) servers.emplace_back(StrCat("s", i));
  return servers;
}

// Yields 4 : 2 : 1 for the same consumption.
std::vector<ClassDemand> Demands(double gold, double silver, double bronze, double guarantee = 0) {
  return {{gold, guarantee, 4}, {silver, guarantee, 2}, {bronze, guarantee, 1}};
}

auto Near(double value) { return DoubleNear(value, 1e-9); }

TEST(AllocateServersTest, TheRestIsDividedByDemand) {
  EXPECT_THAT(AllocateServers(Demands(1, 3, 4), 16), ElementsAre(Near(2), Near(6), Near(8)));
}

TEST(AllocateServersTest, DemandForAllServersIsMet) {
  EXPECT_THAT(AllocateServers(Demands(1.6, 4.8, 9.6, 0.2), 16),
              ElementsAre(Near(1.6), Near(4.8), Near(9.6)));
}

TEST(AllocateServersTest, UnderOverloadByYieldOnceGuaranteesAreMet) {
  EXPECT_THAT(AllocateServers(Demands(1.6, 12.8, 9.6, 0.2), 16),
              ElementsAre(Near(1.6), Near(11.2), Near(3.2)));
  EXPECT_THAT(AllocateServers(Demands(1.6, 12.8, 9.6), 16),
              ElementsAre(Near(1.6), Near(12.8), Near(1.6)));
}

TEST(AllocateServersTest, YieldCountsForWhatIsConsumed) {
  EXPECT_THAT(AllocateServers({{8, 0, 1}, {8, 0, 3}}, 10), ElementsAre(Near(2), Near(8)));
}

TEST(AllocateServersTest, NoDemandNeedsNoServers) {
  EXPECT_THAT(AllocateServers(Demands(0, 0, 0), 4), ElementsAre(0, 0, 0));
}

TEST(PartitionServersTest, FractionsShareWhatIsNotDedicated) {
  const ServerPartition made = PartitionServers({1.6, 4.8, 9.6}, Servers(16));
  EXPECT_THAT(made.classes[kGold].dedicated, ElementsAre(NodeId("s0")));
  EXPECT_THAT(made.classes[kSilver].dedicated, SizeIs(4));
  EXPECT_THAT(made.classes[kBronze].dedicated, SizeIs(9));
  EXPECT_THAT(made.shared, ElementsAre(NodeId("s14"), NodeId("s15")));
  EXPECT_NEAR(made.classes[kGold].fraction, 0.6, 1e-9);
}

TEST(PartitionServersTest, EachPoolGetsItsPartOfTheClass) {
  const ServerPartition made = PartitionServers({2.4, 1.6}, Servers(4));
  const std::vector<NodeId>& shared = made.shared;
  EXPECT_EQ(&made.ServersFor(0, 0), &made.classes[0].dedicated);
  EXPECT_EQ(&made.ServersFor(0, 2 / 2.4 - 0.01), &made.classes[0].dedicated);
  EXPECT_EQ(&made.ServersFor(0, 2 / 2.4 + 0.01), &shared);
}

TEST(PartitionServersTest, OnlySharedServersAreUsedWithoutAnAllocation) {
  const ServerPartition some = PartitionServers({2.5, 0, 0.5}, Servers(3));
  EXPECT_THAT(some.ServersFor(kSilver, 0.5), ElementsAre(NodeId("s2")));
  const ServerPartition none = PartitionServers({3, 0}, Servers(3));
  EXPECT_THAT(none.ServersFor(kSilver, 0.5), IsEmpty());
}

TEST(PartitionServersTest, ServersStayWithTheirClass) {
  const std::vector<NodeId> servers = Servers(6);
  const ServerPartition before = PartitionServers({2, 4}, servers);
  const ServerPartition after = PartitionServers({1, 5}, servers, before);
  EXPECT_THAT(after.classes[0].dedicated, ElementsAre(NodeId("s0")));
  EXPECT_THAT(after.classes[1].dedicated,
              ElementsAre(NodeId("s2"), NodeId("s3"), NodeId("s4"), NodeId("s5"), NodeId("s1")));
}

TEST(PartitionServersTest, ADepartedServerIsReplaced) {
  std::vector<NodeId> servers = Servers(4);
  const ServerPartition before = PartitionServers({1, 3}, servers);
  servers.erase(servers.begin());
  const ServerPartition after = PartitionServers({1, 2}, servers, before);
  EXPECT_THAT(after.classes[0].dedicated, ElementsAre(NodeId("s3")));
  EXPECT_THAT(after.classes[1].dedicated, ElementsAre(NodeId("s1"), NodeId("s2")));
  EXPECT_THAT(after.shared, IsEmpty());
}

// For any demand: every server is assigned exactly once, and no class gets more than its demand
// while others want more, or less than its guarantee while it demands more.
TEST(PartitionServersTest, AtRandom) {
  constexpr uint64_t kSeed = 20261122;
  SCOPED_TRACE(kSeed);
  RandomSource random(kSeed);
  ServerPartition before;
  for (int round = 0; round < 2'000; ++round) {
    const size_t server_count = 1 + random.Below(20);
    const auto count = static_cast<double>(server_count);
    std::vector<ClassDemand> demands;
    for (int k = 0; k < 4; ++k) {
      demands.push_back({random.Uniform() * count, 0.25 * random.Uniform(), random.Uniform()});
    }
    double demanded = 0;
    for (const ClassDemand& one : demands) demanded += one.servers;
    const std::vector<double> allocation = AllocateServers(demands, server_count);
    ASSERT_NEAR(std::accumulate(allocation.begin(), allocation.end(), 0.0), count, 1e-6);
    for (size_t k = 0; k < demands.size(); ++k) {
      const double wanted = demands[k].servers;
      ASSERT_GE(allocation[k], std::min(wanted, demands[k].guarantee * count) - 1e-9);
      if (demanded > count) {
        ASSERT_LE(allocation[k], wanted + 1e-9);
      } else {
        ASSERT_GE(allocation[k], wanted - 1e-9);
      }
    }
    const ServerPartition made = PartitionServers(allocation, Servers(server_count), before);
    std::multiset<NodeId> given(made.shared.begin(), made.shared.end());
    double fractions = 0;
    for (size_t k = 0; k < demands.size(); ++k) {
      const ServerPartition::ForClass& one = made.classes[k];
      given.insert(one.dedicated.begin(), one.dedicated.end());
      fractions += one.fraction;
      ASSERT_NEAR(static_cast<double>(one.dedicated.size()) + one.fraction, allocation[k], 1e-5);
    }
    const std::vector<NodeId> servers = Servers(server_count);
    ASSERT_EQ(given, std::multiset<NodeId>(servers.begin(), servers.end()));
    ASSERT_NEAR(fractions, static_cast<double>(made.shared.size()), 1e-5);
    before = made;
  }
}

}  // namespace
}  // namespace search::lab
