#include "neptune/dac/load_gossip.h"

#include <gtest/gtest.h>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TimePoint At(int ms) { return TimePoint(milliseconds(ms)); }

std::vector<GossipedLoad> PassedOn(const LoadGossip& gossip, TimePoint now) {
  const auto loads = DecodeGossip(gossip.Encode(now), now);
  EXPECT_TRUE(loads.ok()) << loads.status();
  return loads.ok() ? *loads : std::vector<GossipedLoad>();
}

TEST(LoadGossipTest, FreshestOfANodeIsKept) {
  LoadGossip gossip;
  gossip.Merge({NodeId("a"), milliseconds(7), At(20)});
  gossip.Merge({NodeId("a"), milliseconds(9), At(10)});
  ASSERT_TRUE(gossip.Find(NodeId("a")).has_value());
  EXPECT_EQ(gossip.Find(NodeId("a"))->pending, milliseconds(7));
  gossip.Merge({NodeId("a"), milliseconds(3), At(30)});
  EXPECT_EQ(gossip.Find(NodeId("a"))->pending, milliseconds(3));
  EXPECT_EQ(gossip.Find(NodeId("b")), std::nullopt);
}

TEST(LoadGossipTest, IsPassedOnWithItsAge) {
  LoadGossip gossip;
  gossip.Merge({NodeId("a"), milliseconds(7), At(20)});
  gossip.Merge({NodeId("b"), milliseconds(9), At(40)});
  const std::vector<GossipedLoad> expected = {{NodeId("b"), milliseconds(9), At(40)},
                                              {NodeId("a"), milliseconds(7), At(20)}};
  EXPECT_EQ(PassedOn(gossip, At(100)), expected);
}

TEST(LoadGossipTest, AgesTravelBetweenClocksThatDiffer) {
  LoadGossip gossip;
  gossip.Merge({NodeId("a"), milliseconds(7), At(20)});
  const auto loads = DecodeGossip(gossip.Encode(At(25)), At(90000));
  ASSERT_TRUE(loads.ok());
  EXPECT_EQ(loads->front().taken_at, At(89995));
}

TEST(LoadGossipTest, WorkedExample) {
  LoadGossip gossip;
  gossip.Merge({NodeId("n"), milliseconds(2), At(1)});
  EXPECT_EQ(gossip.Encode(At(2)), std::string("\x01\x01\x01n\0\0\x03\xe8\0\0\x07\xd0", 12));
  EXPECT_EQ(LoadGossip().Encode(At(2)), std::string("\x01\0", 2));
}

TEST(LoadGossipTest, NodesAreBoundedAndTheOlderHalfLeaves) {
  LoadGossip gossip;
  for (size_t i = 0; i < kGossipNodeCountMax + 10; ++i) {
    gossip.Merge({NodeId(StrCat("n", i)), milliseconds(1), At(static_cast<int>(i))});
  }
  EXPECT_EQ(gossip.Find(NodeId("n100")), std::nullopt);
  EXPECT_TRUE(gossip.Find(NodeId("n200")).has_value());
  EXPECT_TRUE(gossip.Find(NodeId(StrCat("n", kGossipNodeCountMax + 9))).has_value());
}

TEST(LoadGossipTest, TheFreshestFitOneDatagram) {
  LoadGossip gossip;
  for (int i = 0; i < 100; ++i) {
    gossip.Merge({NodeId(StrCat("n", i)), milliseconds(1), At(i)});
  }
  const std::vector<GossipedLoad> few = PassedOn(gossip, At(200));
  EXPECT_EQ(few.size(), kGossipCountMax);
  EXPECT_EQ(few.front().node, NodeId("n99"));
  const std::string long_name(200, 'x');
  for (int i = 0; i < 100; ++i) {
    gossip.Merge({NodeId(StrCat(long_name, i)), milliseconds(1), At(100 + i)});
  }
  EXPECT_LE(gossip.Encode(At(300)).size(), kGossipSizeMax);
  EXPECT_EQ(PassedOn(gossip, At(300)).size(), 5u);
}

TEST(LoadGossipTest, AbsurdTimesAreCut) {
  LoadGossip gossip;
  gossip.Merge({NodeId("later"), -seconds(1), At(500)});
  gossip.Merge({NodeId("long ago"), std::chrono::hours(100), At(0)});
  const TimePoint now = At(400);
  for (const GossipedLoad& load : PassedOn(gossip, now)) {
    EXPECT_LE(load.taken_at, now);
    EXPECT_GE(load.pending, Duration(0));
    EXPECT_LE(load.pending, std::chrono::minutes(72));
  }
}

TEST(LoadGossipTest, BytesThatAreNoneAreRefused) {
  LoadGossip gossip;
  for (int i = 0; i < 5; ++i) gossip.Merge({NodeId(StrCat("n", i)), milliseconds(1), At(i)});
  const std::string bytes = gossip.Encode(At(9));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DecodeGossip(bytes.substr(0, size), At(9)).status().code(), StatusCode::kDataLoss);
  }
  EXPECT_FALSE(DecodeGossip(bytes + "x", At(9)).ok());
  std::string other_version = bytes;
  other_version[0] = 2;
  EXPECT_FALSE(DecodeGossip(other_version, At(9)).ok());
  std::string too_many = bytes;
  too_many[1] = static_cast<char>(kGossipCountMax + 1);
  EXPECT_FALSE(DecodeGossip(too_many, At(9)).ok());
}

}  // namespace
}  // namespace neptune
