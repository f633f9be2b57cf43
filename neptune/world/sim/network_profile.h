// The cost constants of the simulated network: the only place where a delay is written as a number.
//
// Frozen: network_profile_test.cc guards every value, so that two runs of an experiment a year
// apart mean the same. A change here changes every simulated figure and is justified in its commit.
// The constants are calibrated against the papers and the real world, never against an experiment.
//
// Source: [Chu03] 5.1 (TCP 170 us, UDP 145 us, constant); loopback values measured on the real
//   world: raw TCP ping-pong of 128 bytes 14-16 us round trip; the rest cites Linux and the RFC
//   beside the value.
// Departs from source: kVariedCluster adds jitter to the papers' constant delays, because constant
//   delays hide ordering bugs.
// Threads: immutable.
// Units: latencies are one way, per message; bytes_per_second 0 is unlimited.

#pragma once

#include <cstddef>
#include <cstdint>

#include "neptune/base/time.h"

namespace neptune {

// The cost of crossing one kind of link.
struct LinkCost {
  Duration stream_latency;
  Duration datagram_latency;
  Duration jitter_mean;  // exponentially distributed, added to each message
  int64_t bytes_per_second;
};

struct NetworkProfile {
  LinkCost between_hosts;
  LinkCost loopback;  // from a host to itself
};

// Half of the measured 15 us round trip. Datagrams were not measured and are assumed to cost the
// same.
inline constexpr LinkCost kLoopbackLink = {std::chrono::nanoseconds(7500),
                                           std::chrono::nanoseconds(7500), Duration(0), 0};

// Constant delays, as in the simulator of [Chu03], to reproduce its figures.
inline constexpr NetworkProfile kPaperCluster = {
    {std::chrono::microseconds(170), std::chrono::microseconds(145), Duration(0), 0},
    kLoopbackLink};

// The paper's cluster with a tenth of the stream latency as mean jitter. The default.
inline constexpr NetworkProfile kVariedCluster = {
    {std::chrono::microseconds(170), std::chrono::microseconds(145), std::chrono::microseconds(17),
     0},
    {kLoopbackLink.stream_latency, kLoopbackLink.datagram_latency, std::chrono::nanoseconds(750),
     0}};

// All nodes are processes on one machine.
inline constexpr NetworkProfile kOneMachine = {kVariedCluster.loopback, kVariedCluster.loopback};

// A lost segment is sent again after this long (Linux TCP_RTO_MIN).
inline constexpr Duration kRetransmitTimeout = std::chrono::milliseconds(200);
// The first unanswered connection request is repeated after this long, doubling (RFC 6298, section
// 2).
inline constexpr Duration kConnectRetryInterval = std::chrono::seconds(1);
// Repetitions before a connect gives up by itself (Linux tcp_syn_retries).
inline constexpr int kConnectRetryCountMax = 6;
// Delay until an unused address is unreachable: three probes of a second (Linux neighbour
// discovery).
inline constexpr Duration kUnreachableDelay = std::chrono::seconds(3);
// A stream whose bytes stay unanswered this long is reset (Linux tcp_retries2 = 15).
inline constexpr Duration kStreamSilenceMax = std::chrono::milliseconds(924'600);
// Bytes of one stream in flight or unread; bytes the writer queues beyond that are unsent. A
// modelling choice between Linux's initial and largest receive windows.
inline constexpr size_t kStreamWindowSize = size_t{1} << 20;
// Maximum bytes that travel as one event (the largest segment Linux hands to a network card).
inline constexpr size_t kStreamSegmentSizeMax = size_t{64} << 10;
// Bytes of datagrams kept for a paused host, for each socket; more are lost (Linux rmem_default).
inline constexpr size_t kDatagramBufferSize = 212'992;
// First and one past the last port for sockets that request none (Linux ip_local_port_range).
inline constexpr uint16_t kEphemeralPortFirst = 32'768;
inline constexpr uint16_t kEphemeralPortEnd = 61'000;

}  // namespace neptune
