// Open-loop HTTP load: each query is sent at its own time whether or not earlier ones were answered,
// and its latency counts from that planned time, so that a slow server cannot hide behind its own
// slowness (no coordinated omission).
//
// Source: none. Layer: tests, agent over any world.
// Threads: RunOpenLoop blocks its caller, which is no loop's thread; everything else runs on `loop`.
// Units: queries a second; latency in world time.
// Limits: kOutstandingMax queries without an answer; further ones count as failed.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/world/network.h"
#include "neptune/world/world.h"

namespace search::tests {

inline constexpr size_t kOutstandingMax = 10'000;

struct LoadPlan {
  std::vector<neptune::Endpoint> servers;  // asked in turn
  std::vector<std::string> targets;        // one GET each, in order
  // Mean of the exponentially distributed gaps is 1 / rate.
  double rate = 50;
  uint64_t seed = 1;
  neptune::Duration timeout = std::chrono::seconds(5);
};

struct Exchange {
  neptune::Status status;  // OK: an answer of any HTTP status came
  int http_status = 0;
  std::string body;
  // From the planned time, and how long after it the request was really sent.
  neptune::Duration latency{};
  neptune::Duration send_delay{};
};

// One exchange for each target, in order.
std::vector<Exchange> RunOpenLoop(neptune::Loop& loop, const LoadPlan& plan);

}  // namespace search::tests
