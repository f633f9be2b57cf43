#include "neptune/dac/load_hearsay.h"

#include <gtest/gtest.h>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TimePoint At(int ms) { return TimePoint(milliseconds(ms)); }

std::vector<HeardLoad> PassedOn(const LoadHearsay& hearsay, TimePoint now) {
  const auto loads = DecodeHearsay(hearsay.Encode(now), now);
  EXPECT_TRUE(loads.ok()) << loads.status();
  return loads.ok() ? *loads : std::vector<HeardLoad>();
}

TEST(LoadHearsayTest, FreshestOfANodeIsKept) {
  LoadHearsay hearsay;
  hearsay.Hear({NodeId("a"), milliseconds(7), At(20)});
  hearsay.Hear({NodeId("a"), milliseconds(9), At(10)});
  ASSERT_TRUE(hearsay.Find(NodeId("a")).has_value());
  EXPECT_EQ(hearsay.Find(NodeId("a"))->pending, milliseconds(7));
  hearsay.Hear({NodeId("a"), milliseconds(3), At(30)});
  EXPECT_EQ(hearsay.Find(NodeId("a"))->pending, milliseconds(3));
  EXPECT_EQ(hearsay.Find(NodeId("b")), std::nullopt);
}

TEST(LoadHearsayTest, IsPassedOnWithItsAge) {
  LoadHearsay hearsay;
  hearsay.Hear({NodeId("a"), milliseconds(7), At(20)});
  hearsay.Hear({NodeId("b"), milliseconds(9), At(40)});
  const std::vector<HeardLoad> expected = {{NodeId("b"), milliseconds(9), At(40)},
                                           {NodeId("a"), milliseconds(7), At(20)}};
  EXPECT_EQ(PassedOn(hearsay, At(100)), expected);
}

TEST(LoadHearsayTest, AgesTravelBetweenClocksThatDiffer) {
  LoadHearsay hearsay;
  hearsay.Hear({NodeId("a"), milliseconds(7), At(20)});
  const auto loads = DecodeHearsay(hearsay.Encode(At(25)), At(90000));
  ASSERT_TRUE(loads.ok());
  EXPECT_EQ(loads->front().taken_at, At(89995));
}

TEST(LoadHearsayTest, WorkedExample) {
  LoadHearsay hearsay;
  hearsay.Hear({NodeId("n"), milliseconds(2), At(1)});
  EXPECT_EQ(hearsay.Encode(At(2)), std::string("\x01\x01\x01n\0\0\x03\xe8\0\0\x07\xd0", 12));
  EXPECT_EQ(LoadHearsay().Encode(At(2)), std::string("\x01\0", 2));
}

TEST(LoadHearsayTest, NodesAreBoundedAndTheOlderHalfLeaves) {
  LoadHearsay hearsay;
  for (size_t i = 0; i < kHeardNodeCountMax + 10; ++i) {
    hearsay.Hear({NodeId(StrCat("n", i)), milliseconds(1), At(static_cast<int>(i))});
  }
  EXPECT_EQ(hearsay.Find(NodeId("n100")), std::nullopt);
  EXPECT_TRUE(hearsay.Find(NodeId("n200")).has_value());
  EXPECT_TRUE(hearsay.Find(NodeId(StrCat("n", kHeardNodeCountMax + 9))).has_value());
}

TEST(LoadHearsayTest, TheFreshestFitOneDatagram) {
  LoadHearsay hearsay;
  for (int i = 0; i < 100; ++i) {
    hearsay.Hear({NodeId(StrCat("n", i)), milliseconds(1), At(i)});
  }
  const std::vector<HeardLoad> few = PassedOn(hearsay, At(200));
  EXPECT_EQ(few.size(), kHearsayCountMax);
  EXPECT_EQ(few.front().node, NodeId("n99"));
  const std::string long_name(200, 'x');
  for (int i = 0; i < 100; ++i) {
    hearsay.Hear({NodeId(StrCat(long_name, i)), milliseconds(1), At(100 + i)});
  }
  EXPECT_LE(hearsay.Encode(At(300)).size(), kHearsaySizeMax);
  EXPECT_EQ(PassedOn(hearsay, At(300)).size(), 5u);
}

TEST(LoadHearsayTest, AbsurdTimesAreCut) {
  LoadHearsay hearsay;
  hearsay.Hear({NodeId("later"), -seconds(1), At(500)});
  hearsay.Hear({NodeId("long ago"), std::chrono::hours(100), At(0)});
  const TimePoint now = At(400);
  for (const HeardLoad& load : PassedOn(hearsay, now)) {
    EXPECT_LE(load.taken_at, now);
    EXPECT_GE(load.pending, Duration(0));
    EXPECT_LE(load.pending, std::chrono::minutes(72));
  }
}

TEST(LoadHearsayTest, BytesThatAreNoneAreRefused) {
  LoadHearsay hearsay;
  for (int i = 0; i < 5; ++i) hearsay.Hear({NodeId(StrCat("n", i)), milliseconds(1), At(i)});
  const std::string bytes = hearsay.Encode(At(9));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DecodeHearsay(bytes.substr(0, size), At(9)).status().code(), StatusCode::kDataLoss);
  }
  EXPECT_FALSE(DecodeHearsay(bytes + "x", At(9)).ok());
  std::string other_version = bytes;
  other_version[0] = 2;
  EXPECT_FALSE(DecodeHearsay(other_version, At(9)).ok());
  std::string too_many = bytes;
  too_many[1] = static_cast<char>(kHearsayCountMax + 1);
  EXPECT_FALSE(DecodeHearsay(too_many, At(9)).ok());
}

}  // namespace
}  // namespace neptune
