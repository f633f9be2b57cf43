// The runs that the experiments of the service call share: echo calls over Neptune and over its
// peers.
//
// Threads: pure functions, except for the processes that they start.

#pragma once

#include <string>
#include <vector>

#include "tools/lab/engine/experiment.h"
#include "tools/process/peer_process.h"

namespace search::lab {

// "neptune", "neptune, features off", "gRPC, queue", "gRPC, callbacks", "epoll", "tcp".
// `caller_arguments`: see tests/peers/load.h.
PeerRun EchoRun(const std::string& peer, std::vector<std::string> caller_arguments);

// Flags for the warm-up and measuring times of callers, whose sum is the time of one run.
std::vector<std::string> Times(const RunContext& context);

// Returns calls_per_processor_s (calls per second of the server's processor time), p10_us, p50_us,
// p99_us, lost.
neptune::StatusOr<Measurement> MeasurePeers(const PeerRun& run);

// Adds the row that no answer was wrong or missing in any run.
Row& JudgeLost(const Results& results, Judgement* judgement);

// The point with the largest median.
Point BestOf(const Results& results, const std::vector<Point>& points, const std::string& metric);

}  // namespace search::lab
