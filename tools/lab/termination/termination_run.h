// One server of a service whose long requests may be ended early, under each of the schemes that the sert_ experiments
// compare, and what became of its requests.
//
//   "none"               the queue's bound alone, as in every scheme
//   "queue N"            admission control by a shorter queue
//   "response N ms"      admission control by response time feedback
//   "fixed N ms"         every request may take N ms
//   "loss"               the paper's controller: the threshold follows the loss
//   "sert"               the runtime's: the same, and the lower bound while a request has waited too long
//   "relief"             the same, but one after the other, first who has had a place of the pool the longest
//
// Frozen for all experiments of the chapter: two processors, as many requests at once, a queue of 40 unless the scheme
// says otherwise, a deadline of 5 s that drops what is late, a look at the time each millisecond of work.
//
// Source: [Zhou06], "Current Techniques", "Experimental Settings".
// Threads: as SimCluster.

#pragma once

#include <string>

#include "tools/lab/engine/experiment.h"
#include "tools/lab/kit/sim_cluster.h"

namespace search::lab {

inline constexpr double kTerminationProcessors = 2;

struct TerminationRun {
  std::string scheme = "none";
  // Of the threshold.
  double lower_bound_ms = 50;
  double upper_bound_ms = 15000;
  std::vector<LoadPhase> phases;
  // Requests that arrive then are measured, on the load's clock.
  neptune::Duration from{};
  neptune::Duration until{};
  // What costs at least this is long.
  double long_ms = 500;
};

// Index matching at 98 % of what two processors can do, from 10 s on for `shift` with a tenth of the requests of 500 ms
// and more (500, 750, 1,000 and 2,000 ms, shares 50, 25, 15 and 10 %), and 5 s as before; measured is the shift.
TerminationRun SizeDistributionShift(const std::string& scheme, neptune::Duration shift);

// The same for a load of 70 % of what two processors can do, where a tenth of the requests take 300 ms and a fifth of
// the others wait 300 ms outside of the pool.
TerminationRun LongAndWaiting(const std::string& scheme, neptune::Duration time);

// "offered_per_s", "answered_per_s", "mean_ms" of the answered, "within_1s_percent" of the offered, "short_percent"
// answered of the short ones, "short_p99_ms" of theirs, "waiting_percent" and "long_percent" answered of those that wait
// and of the long ones, "ended_percent" of the offered that began and were told to stop
// or were too late. Answered means in full.
// REQUIRES: the scheme is one of the above.
Measurement MeasureTermination(const TerminationRun& run, uint64_t seed);

}  // namespace search::lab
