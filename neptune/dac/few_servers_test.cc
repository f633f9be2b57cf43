#include "neptune/dac/few_servers.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"

namespace neptune {
namespace {

using Partitions = std::vector<std::vector<Replica>>;  // the replicas of each partition

std::vector<Replica> On(const std::vector<std::string>& nodes) {
  std::vector<Replica> replicas;
  for (const std::string& node : nodes) replicas.emplace_back().node = NodeId(node);
  return replicas;
}

// Four partitions on a ring of four servers, as in data/clusters/dev.textproto.
Partitions Ring() {
  return {On({"s1", "s4"}), On({"s1", "s3"}), On({"s2", "s3"}), On({"s2", "s4"})};
}

FewServers Expecting(const Partitions& partitions, const std::vector<NodeId>& others) {
  FewServers few(others);
  for (const std::vector<Replica>& replicas : partitions) few.Expect(replicas);
  return few;
}

// Places all partitions, each on a preferred replica, or on any if none is.
std::set<std::string> ServersOf(const Partitions& partitions, RandomSource& random,
                                const std::vector<NodeId>& others = {}) {
  FewServers few = Expecting(partitions, others);
  std::set<std::string> servers;
  for (const std::vector<Replica>& replicas : partitions) {
    std::vector<size_t> among = few.Preferred(replicas);
    if (among.empty()) {
      among.resize(replicas.size());
      std::iota(among.begin(), among.end(), size_t{0});
    }
    const size_t chosen = among[random.Below(among.size())];
    few.Place(replicas, chosen);
    servers.insert(replicas[chosen].node.value());
  }
  return servers;
}

TEST(FewServersTest, RingOfFourIsPlacedOnTwoServersAndOnEitherPair) {
  RandomSource random(1);
  std::set<std::set<std::string>> pairs;
  for (int i = 0; i < 100; ++i) pairs.insert(ServersOf(Ring(), random));
  EXPECT_EQ(pairs, (std::set<std::set<std::string>>{{"s1", "s2"}, {"s3", "s4"}}));
}

TEST(FewServersTest, ServerThatIsAskedAnywayIsPreferred) {
  const std::vector<NodeId> none;
  FewServers few = Expecting(Ring(), none);
  EXPECT_TRUE(few.Preferred(Ring()[0]).empty()) << "both serve two partitions";
  few.Place(Ring()[0], 0);
  EXPECT_EQ(few.Preferred(Ring()[1]), std::vector<size_t>{0});
}

TEST(FewServersTest, ServerWithMoreOfTheRestIsPreferred) {
  const std::vector<NodeId> none;
  FewServers few = Expecting(Ring(), none);
  few.Place(Ring()[0], 0);
  few.Place(Ring()[1], 0);
  EXPECT_EQ(few.Preferred(Ring()[2]), std::vector<size_t>{0}) << "s2 has 2 and 3, s3 has 2 alone";
}

TEST(FewServersTest, LoadsDecideBetweenServersThatAreAskedAnyway) {
  const std::vector<NodeId> none;
  FewServers few = Expecting({On({"a", "b"}), On({"a", "b"}), On({"a", "b"})}, none);
  few.Place(On({"a", "b"}), 0);
  few.Place(On({"a", "b"}), 1);
  EXPECT_TRUE(few.Preferred(On({"a", "b"})).empty());
}

TEST(FewServersTest, ServersOfTheOtherCallBreakTies) {
  RandomSource random(1);
  const std::vector<NodeId> others = {NodeId("s4"), NodeId("s3")};
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(ServersOf(Ring(), random, others), (std::set<std::string>{"s3", "s4"}));
  }
}

TEST(FewServersTest, PartitionWithOneReplicaLeavesNoChoice) {
  const std::vector<NodeId> none;
  FewServers few = Expecting({On({"a"}), {}}, none);
  EXPECT_TRUE(few.Preferred(On({"a"})).empty());
  EXPECT_TRUE(few.Preferred({}).empty());
}

TEST(FewServersTest, RandomPlacementsNeedFewerServersThanRandomChoices) {
  RandomSource random(7);
  size_t preferred_count = 0;
  size_t random_count = 0;
  for (int round = 0; round < 200; ++round) {
    Partitions partitions(16);
    for (std::vector<Replica>& replicas : partitions) {
      const size_t first = random.Below(12);
      replicas = On({StrCat("n", first), StrCat("n", (first + 1 + random.Below(11)) % 12)});
    }
    const size_t own_count = ServersOf(partitions, random).size();
    std::set<std::string> any;
    for (const std::vector<Replica>& replicas : partitions) {
      any.insert(replicas[random.Below(2)].node.value());
    }
    preferred_count += own_count;
    random_count += any.size();
  }
  EXPECT_LT(preferred_count * 4, random_count * 3) << preferred_count << " of " << random_count;
}

}  // namespace
}  // namespace neptune
