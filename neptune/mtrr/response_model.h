// Response time of a server whose threads share one machine in turns: a birth-death chain over the
// requests in it.
//
//        lambda      lambda           lambda
//    (0) ─────► (1) ─────► (2) ... ─────────► (K)          K = B + m0: threads and queue places
//        ◄─────     ◄─────         ◄─────────
//         mu G(1)    mu G(2)        mu G(m0)
//
// If other classes are overloaded and keep gamma threads busy, i requests of this class are served
// at i / (i + gamma) of the total rate mu G(i + gamma).
//
// Source: [Jamjoom04] IV, (2) to (11); VI, (13), (14).
// Departs from source: the chain is solved by a scaled recurrence, so there is no special case
//   where load meets capacity (the closed form's pole at rho = C). Among overloaded classes too,
//   arrivals that find the queue full do not count in Little's law.
// No I/O, no clock, no threads.
// Threads: pure functions.
// Units: rates a second, times in seconds.
// Errors: kInvalidArgument rates that are not positive, no thread, a negative queue length, more
//   than kThreadCountMax threads or kQueuePlaceCountMax places.
// Limits: O(K).

#pragma once

#include "neptune/base/status.h"
#include "neptune/mtrr/speedup.h"

namespace neptune {

inline constexpr int kQueuePlaceCountMax = 1'000'000;

struct ThreadedService {
  double arrival_rate = 0;   // lambda
  double service_rate = 0;   // mu: 1 / mean time of a request that is alone, with one thread
  Speedup speedup;           // G
  int thread_count = 1;      // m0
  int queue_length_max = 0;  // B
  // Busy threads of overloaded classes; 0: the class is alone.
  int overloaded_thread_count = 0;  // gamma
};

struct ResponseModel {
  double response_s = 0;       // mean over accepted requests: W
  double in_system_mean = 0;   // N
  double in_service_mean = 0;  // busy threads
  double loss_share = 0;       // share of arrivals that find the queue full: p_K
  double idle_share = 0;       // p_0
  double throughput = 0;       // requests a second
  // Maximum throughput, and the ratio of arrivals to it.
  double capacity = 0;
  double load = 0;
};

StatusOr<ResponseModel> PredictResponse(const ThreadedService& service);

// Returns the share by which the mean service time is over-predicted because turns are assumed to
// be infinitely short, in the worst case: G = 1 and all threads always busy.
double QuantumError(int thread_count, double service_rate, double quantum_s);

}  // namespace neptune
