// A simulated host whose service classes have their own threads, which take turns: the server model
// of MTRR.
//
//   arrivals of a class ──► its queue, bounded ──► its threads ─┐
//   arrivals of another ──► its queue, bounded ──► its threads ─┼─► processors in turns at G(busy)
//   (a class without arrivals: always busy threads) ───────────┘
//
// Source: [Jamjoom04] III (A1 to A6).
// Departs from source: none; the run sets the length of turns.
// Threads: pure function; several may run in several threads.
// Units: virtual time.
// Errors: kInvalidArgument no class, a class without threads, no measuring time.

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
  // Poisson arrivals a second; 0: overloaded, every thread begins a request when it ends one.
  double arrival_rate = 0;
  // Processor time of a request, in milliseconds.
  workload::Distribution service_ms = workload::Distribution::Exponential(20);
};

struct ThreadedRun {
  std::vector<ThreadedClass> classes;
  neptune::Speedup speedup;
  // A thread's turn. Default: the typical value of the source.
  neptune::Duration quantum = std::chrono::milliseconds(10);
  // Warm-up before the measured time.
  double warm_up_s = 10;
  double length_s = 300;
};

// Figures of the requests of one class that arrived during the measured time.
struct ThreadedOutcome {
  double response_s_mean = 0;    // from arrival to end
  double processing_s_mean = 0;  // from a thread to end
  double loss_share = 0;
  double throughput = 0;  // a second
};

// Collects the figures of an outcome.
class ThreadedTally {
 public:
  void OnArrival() { ++arrived_count_; }
  void OnLost() { ++lost_count_; }
  void OnServed(neptune::Duration response, neptune::Duration processing) {
    ++served_count_;
    response_s_sum_ += neptune::ToSeconds(response);
    processing_s_sum_ += neptune::ToSeconds(processing);
  }
  // `length_s` is the length of the measured time.
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
