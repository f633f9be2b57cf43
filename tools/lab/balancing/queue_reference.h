// An independent reference: queues, delays and the old policies in a small event loop of their own.
//
// Shares no code with the runtime or the simulated world but the random numbers, so that equal figures mean that both
// are right. Servers work first come first served, one request at a time, with a bound on those that wait.
//
// Source: [Shen02] 3.2 (the model of its simulator). Threads: pure function.
// Units: milliseconds.

#pragma once

#include <cstdint>
#include <vector>

#include "tools/workload/distribution.h"

namespace search::lab {

struct QueueReferenceOptions {
  int server_count = 16;
  // 0: random; -1: ideal, the shortest queue with requests on their way; else the poll size.
  int poll_size = 3;
  workload::Distribution gap = workload::Distribution::Exponential(1);
  workload::Distribution service = workload::Distribution::Exponential(1);
  // One way of a request or an answer, and of a poll or its answer.
  double call_delay = 0.17;
  double poll_delay = 0.145;
  // A poll of a busy server is read late with this chance, by this much in the mean (exponential).
  double slow_share = 0;
  double slow_mean = 0;
  // When a poll that is not answered is given up; 0: never.
  double discard_after = 10;
  // Whether an idle server's answer ends the poll.
  bool stop_at_idle = true;
  // Waiting requests a server refuses one more at.
  int queue_length_max = 40;
  uint64_t warm_up_count = 0;
  uint64_t count = 1;
};

struct QueueReferenceResult {
  double mean = 0;  // of requests that were not refused
  double loss = 0;  // share refused
};

QueueReferenceResult SimulateQueues(const QueueReferenceOptions& options, uint64_t seed);

}  // namespace search::lab
