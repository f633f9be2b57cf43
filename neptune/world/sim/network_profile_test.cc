#include "neptune/world/sim/network_profile.h"

#include <gtest/gtest.h>

namespace neptune {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(NetworkProfileTest, PaperClusterHasTheDelaysOfTheDacSimulator) {
  EXPECT_EQ(kPaperCluster.between_hosts.stream_latency, microseconds(170));
  EXPECT_EQ(kPaperCluster.between_hosts.datagram_latency, microseconds(145));
  EXPECT_EQ(kPaperCluster.between_hosts.jitter_mean, Duration(0));
  EXPECT_EQ(kPaperCluster.between_hosts.bytes_per_second, 0);
}

TEST(NetworkProfileTest, LoopbackIsHalfTheMeasuredRoundTrip) {
  EXPECT_EQ(kLoopbackLink.stream_latency, nanoseconds(7500));
  EXPECT_EQ(kLoopbackLink.datagram_latency, nanoseconds(7500));
  EXPECT_EQ(kPaperCluster.loopback.stream_latency, nanoseconds(7500));
  EXPECT_EQ(kPaperCluster.loopback.jitter_mean, Duration(0));
}

TEST(NetworkProfileTest, VariedClusterAddsJitterOnly) {
  EXPECT_EQ(kVariedCluster.between_hosts.stream_latency, microseconds(170));
  EXPECT_EQ(kVariedCluster.between_hosts.datagram_latency, microseconds(145));
  EXPECT_EQ(kVariedCluster.between_hosts.jitter_mean, microseconds(17));
  EXPECT_EQ(kVariedCluster.loopback.jitter_mean, nanoseconds(750));
}

TEST(NetworkProfileTest, OneMachineIsLoopbackEverywhere) {
  EXPECT_EQ(kOneMachine.between_hosts.stream_latency, nanoseconds(7500));
  EXPECT_EQ(kOneMachine.between_hosts.jitter_mean, nanoseconds(750));
  EXPECT_EQ(kOneMachine.loopback.stream_latency, nanoseconds(7500));
}

TEST(NetworkProfileTest, TransportConstantsAreFrozen) {
  EXPECT_EQ(kRetransmitTimeout, milliseconds(200));
  EXPECT_EQ(kConnectRetryInterval, seconds(1));
  EXPECT_EQ(kConnectRetryCountMax, 6);
  EXPECT_EQ(kUnreachableDelay, seconds(3));
  EXPECT_EQ(kStreamSilenceMax, milliseconds(924'600));
  EXPECT_EQ(kStreamWindowSize, size_t{1'048'576});
  EXPECT_EQ(kStreamSegmentSizeMax, size_t{65'536});
  EXPECT_EQ(kDatagramBufferSize, size_t{212'992});
  EXPECT_EQ(kEphemeralPortFirst, 32'768);
  EXPECT_EQ(kEphemeralPortEnd, 61'000);
}

}  // namespace
}  // namespace neptune
