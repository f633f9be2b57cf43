// The runs that the experiments of the service call share: echo over Neptune and over its peers.
//
// Threads: pure functions, but for the processes they start.

#pragma once

#include <string>
#include <vector>

#include "tools/lab/engine/experiment.h"
#include "tools/process/peer_process.h"

namespace search::lab {

// "neptune", "neptune, features off", "gRPC, queue", "gRPC, callbacks", "epoll", "tcp". `caller_arguments` as
// tests/peers/load.h says.
PeerRun EchoRun(const std::string& peer, std::vector<std::string> caller_arguments);

// How long callers warm up and count, by length; together they make the time of one run.
std::vector<std::string> Times(const RunContext& context);

// calls_per_processor_s (calls a second of the server's processor time), p10_us, p50_us, p99_us, lost.
neptune::StatusOr<Measurement> MeasurePeers(const PeerRun& run);

// No answer was wrong or missing, in any run.
Row& JudgeLost(const Results& results, Judgement* judgement);

// Of several points the one whose median is largest.
Point BestOf(const Results& results, const std::vector<Point>& points, const std::string& metric);

}  // namespace search::lab
