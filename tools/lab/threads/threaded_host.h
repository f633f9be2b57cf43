// A simulated host whose service classes have threads of their own that take turns: the server that MTRR describes.
//
//   arrivals of a class ──► its queue, bounded ──► its threads ─┐
//   arrivals of another ──► its queue, bounded ──► its threads ─┼─► processors in turns, at the rate G(busy threads)
//   (a class without arrivals: its threads never rest) ────────┘
//
// Source: [Jamjoom04] III (A1 to A6).
// Departs from source: none; turns are as long as the run says.
// Threads: pure function; several may run in several threads.
// Units: virtual time.
// Errors: kInvalidArgument no class, a class without threads, no time to measure.

#pragma once

#include <cstdint>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/base/time.h"
#include "neptune/mtrr/speedup.h"
#include "tools/workload/distribution.h"

namespace search::lab {

struct ThreadedClass {
  int thread_count = 1;
  int queue_length_max = 128;
  // A second, of a Poisson process; 0: overloaded, every thread begins a request as it ends one.
  double arrival_rate = 0;
  // Processor time of a request, in milliseconds.
  workload::Distribution service_ms = workload::Distribution::Exponential(20);
};

struct ThreadedRun {
  std::vector<ThreadedClass> classes;
  neptune::Speedup speedup;
  // A thread's turn. Default: what the source calls typical.
  neptune::Duration quantum = std::chrono::milliseconds(10);
  // Before what is measured.
  double warm_up_s = 10;
  double length_s = 300;
};

// Of the requests of one class that arrived while it was measured.
struct ThreadedOutcome {
  double response_s_mean = 0;    // from arrival to end
  double processing_s_mean = 0;  // from a thread to end
  double loss_share = 0;
  double throughput = 0;  // a second
};

// Counts what an outcome tells.
class ThreadedTally {
 public:
  void OnArrival() { ++arrived_count_; }
  void OnLost() { ++lost_count_; }
  void OnServed(neptune::Duration response, neptune::Duration processing) {
    ++served_count_;
    response_s_sum_ += neptune::ToSeconds(response);
    processing_s_sum_ += neptune::ToSeconds(processing);
  }
  // `length_s`: how long it has counted.
  ThreadedOutcome Outcome(double length_s) const;

 private:
  uint64_t arrived_count_ = 0;
  uint64_t lost_count_ = 0;
  uint64_t served_count_ = 0;
  double response_s_sum_ = 0;
  double processing_s_sum_ = 0;
};

neptune::StatusOr<std::vector<ThreadedOutcome>> RunThreadedHost(const ThreadedRun& run,
                                                                uint64_t seed);

}  // namespace search::lab
