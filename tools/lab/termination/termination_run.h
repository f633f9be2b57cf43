// One server of a service whose long requests may be terminated early, under the schemes that the
// sert_ experiments compare, and the outcome of its requests.
//
//   "none"               only the bound of the queue, which all schemes have
//   "queue N"            admission control by a shorter queue
//   "response N ms"      admission control by response time feedback
//   "fixed N ms"         every request may take N ms
//   "loss"               the paper's controller: the threshold follows the loss
//   "sert"               the runtime's: as "loss", and the lower bound after long waits
//   "relief"             as "sert", but one request at a time, the longest pool user first
//
// Frozen for all experiments of the chapter: two processors, two concurrent requests, a queue of 40
// unless the scheme has another bound, a deadline of 5 s after which requests are dropped, and a
// check of the time after each millisecond of work.
//
// Source: [Zhou06], "Current Techniques", "Experimental Settings".
// Threads: as SimCluster.

#pragma once

#include <string>

#include "tools/lab/engine/experiment.h"
#include "tools/lab/kit/sim_cluster.h"

namespace search::lab {

inline constexpr double kTerminationProcessors = 2;
// Added to a time limit in cluster spec syntax, the limit of the source, which follows the loss
// alone: no request waits for an hour.
inline constexpr char kByLossAlone[] = " wait_goal_ms: 3600000";

struct TerminationRun {
  std::string scheme = "none";
  // Bounds of the threshold.
  double lower_bound_ms = 50;
  double upper_bound_ms = 15000;
  std::vector<LoadPhase> phases;
  // Requests that arrive in this interval of the load's clock are measured.
  neptune::Duration from{};
  neptune::Duration until{};
  // The minimum cost of a long request.
  double long_ms = 500;
};

// Index matching at 98 % of the capacity of two processors. From 10 s on, for the time `shift`, a
// tenth of the requests take 500, 750, 1,000 or 2,000 ms (50, 25, 15 and 10 % of them); then 5 s as
// before. The shift is measured.
TerminationRun SizeDistributionShift(const std::string& scheme, neptune::Duration shift);

// The same with a load of 70 % of the capacity of two processors, where a tenth of the requests
// take 300 ms and a fifth of the others wait 300 ms outside the pool.
TerminationRun LongAndWaiting(const std::string& scheme, neptune::Duration time);

// Returns "offered_per_s", "answered_per_s", "mean_ms" of the answered, "within_1s_percent" of the
// offered, the answered shares "short_percent", "waiting_percent" and "long_percent" of short,
// waiting and long requests, "short_p99_ms" of short ones, and "ended_percent": the share of the
// offered requests that began and were terminated or missed their deadline. Answered means in full.
// REQUIRES: the scheme is one of the above.
Measurement MeasureTermination(const TerminationRun& run, uint64_t seed);

}  // namespace search::lab
