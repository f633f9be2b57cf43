#include "neptune/replication/agent/pulse_peer.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::milliseconds;

constexpr TimePoint kStart{std::chrono::seconds(10)};

LeadEnd End(uint32_t partition) { return {ServiceName("s"), PartitionId(partition)}; }

NodePulse Pulse(uint64_t incarnation, uint64_t end_count, std::vector<LeadEnd> ends = {}) {
  return {NodeId("n"), incarnation, end_count, std::move(ends)};
}

TEST(PulsePeerTest, IsHeardWithTheFirstPulseAndSilentWithoutFurtherOnes) {
  PulsePeer peer;
  EXPECT_FALSE(peer.CheckSilence(kStart));
  EXPECT_TRUE(peer.Hear(Pulse(1, 0), kStart).is_heard);
  EXPECT_FALSE(peer.Hear(Pulse(1, 0), kStart + milliseconds(100)).is_heard);
  EXPECT_FALSE(peer.CheckSilence(kStart + milliseconds(399)));
  EXPECT_TRUE(peer.CheckSilence(kStart + milliseconds(400)));
  EXPECT_FALSE(peer.CheckSilence(kStart + milliseconds(500))) << "is said once";
  EXPECT_EQ(peer.heard_at(), kStart + milliseconds(100));
  EXPECT_TRUE(peer.Hear(Pulse(1, 0), kStart + milliseconds(600)).is_heard);
}

TEST(PulsePeerTest, OneOfTwoNodesCallsWhileItIsHeard) {
  PulsePeer peer;
  EXPECT_TRUE(peer.MustCall(PulseTurn::kCalls, kStart)) << "it was never heard";
  EXPECT_TRUE(peer.MustCall(PulseTurn::kAnswers, kStart));
  EXPECT_EQ(peer.silent_at(), kNever);
  peer.Hear(Pulse(1, 0), kStart);
  EXPECT_EQ(peer.silent_at(), kStart + kPulseSilenceMax);
  EXPECT_FALSE(peer.MustCall(PulseTurn::kCalls, kStart + milliseconds(49)));
  EXPECT_TRUE(peer.MustCall(PulseTurn::kCalls, kStart + milliseconds(50)));
  EXPECT_FALSE(peer.MustCall(PulseTurn::kAnswers, kStart + milliseconds(119)));
  EXPECT_TRUE(peer.MustCall(PulseTurn::kAnswers, kStart + milliseconds(120)));
  ASSERT_TRUE(peer.CheckSilence(peer.silent_at()));
  EXPECT_TRUE(peer.MustCall(PulseTurn::kAnswers, peer.heard_at())) << "it is silent";
  EXPECT_EQ(peer.silent_at(), kNever);
}

TEST(PulsePeerTest, EachEndIsToldOnce) {
  PulsePeer peer;
  peer.Hear(Pulse(1, 0), kStart);
  EXPECT_EQ(peer.Hear(Pulse(1, 1, {End(7)}), kStart).ends, std::vector{End(7)});
  EXPECT_TRUE(peer.Hear(Pulse(1, 1, {End(7)}), kStart).ends.empty());
  EXPECT_EQ(peer.Hear(Pulse(1, 3, {End(7), End(8), End(9)}), kStart).ends,
            (std::vector{End(8), End(9)}));
  EXPECT_TRUE(peer.Hear(Pulse(1, 1, {End(7)}), kStart).ends.empty()) << "an older pulse";
}

TEST(PulsePeerTest, EndsBeforeTheFirstPulseAreNotNews) {
  PulsePeer peer;
  const PulsePeer::News news = peer.Hear(Pulse(1, 5, {End(7)}), kStart);
  EXPECT_TRUE(news.ends.empty());
  EXPECT_FALSE(news.have_all_ended);
}

TEST(PulsePeerTest, ARestartAndALostListEndEverything) {
  PulsePeer peer;
  peer.Hear(Pulse(1, 0), kStart);
  EXPECT_TRUE(peer.Hear(Pulse(1, 3, {End(7)}), kStart).have_all_ended);
  EXPECT_FALSE(peer.Hear(Pulse(1, 3), kStart).have_all_ended);
  EXPECT_TRUE(peer.Hear(Pulse(2, 0), kStart).have_all_ended);
  EXPECT_EQ(peer.Hear(Pulse(2, 1, {End(7)}), kStart).ends, std::vector{End(7)});
}

TEST(PulsePeerTest, APulseSurvivesItsEncoding) {
  const NodePulse pulse = Pulse(3, 9, {End(7), End(8)});
  const StatusOr<NodePulse> decoded = DecodeNodePulse(EncodeNodePulse(pulse));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, pulse);
  EXPECT_FALSE(DecodeNodePulse(EncodeNodePulse(Pulse(0, 0))).ok());
  EXPECT_FALSE(DecodeNodePulse(EncodeNodePulse(Pulse(1, 1, {End(7), End(8)}))).ok());
}

}  // namespace
}  // namespace neptune
