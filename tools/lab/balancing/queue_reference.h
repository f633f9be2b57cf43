// An independent reference: queues, delays and the paper's policies in a small event loop.
//
// Shares only the random numbers with the runtime and the simulated world, so that equal figures
// mean that both are right. Servers work first come first served, one request at a time, with a
// bound on the number of waiting requests.
//
// Source: [Shen02] 3.2 (the model of its simulator).
// Threads: pure function.
// Units: milliseconds.

#pragma once

#include <cstdint>
#include <vector>

#include "tools/workload/distribution.h"

namespace search::lab {

struct QueueReferenceOptions {
  int server_count = 16;
  // 0: random; -1: ideal, the shortest queue including requests in transit; else the poll size.
  int poll_size = 3;
  workload::Distribution gap = workload::Distribution::Exponential(1);
  workload::Distribution service = workload::Distribution::Exponential(1);
  // One-way delays of a request or its answer, and of a poll or its answer.
  double call_delay = 0.17;
  double poll_delay = 0.145;
  // A busy server reads a poll late with probability `slow_share`, with exponential mean
  // `slow_mean`.
  double slow_share = 0;
  double slow_mean = 0;
  // Polls without an answer are discarded after this time; 0: never.
  double discard_after = 10;
  // Whether the answer of an idle server ends the poll.
  bool stop_at_idle = true;
  // A server with this many waiting requests refuses further ones.
  int queue_length_max = 40;
  uint64_t warm_up_count = 0;
  uint64_t count = 1;
};

struct QueueReferenceResult {
  double mean = 0;  // response time of accepted requests
  double loss = 0;  // share of refused requests
};

QueueReferenceResult SimulateQueues(const QueueReferenceOptions& options, uint64_t seed);

}  // namespace search::lab
