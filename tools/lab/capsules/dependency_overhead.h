// What capsules cost: a capsule paper's service on real nodes with and without them, in turns.
//
// Two clusters of the service stand side by side in this process, and requests are offered to one and the other by turns
// (on, off, off, on, and then the other way round), so that whatever else the machine does meets both. The processor time
// is that of the whole process, client included.
//
// Source: [Chu05] VI.B.
// Threads: the calling kernel thread waits; one such run at a time a machine.
// Units: seconds really pass; processor time is user and system.
// Errors: those of RealDependencyCluster; kUnavailable more than one request of a turn, and one in a hundred, was lost.

#pragma once

#include <cstdint>

#include "neptune/base/status.h"
#include "tools/lab/capsules/dependency_services.h"
#include "tools/lab/engine/results.h"

namespace search::lab {

struct OverheadOptions {
  uint64_t seed = 1;
  DependencyService service;
  // Poisson.
  double rate_per_s = 100;
  // Of one turn; there are sixteen, after one on each side to warm up.
  double turn_s = 0.2;
};

// Of a request "processor_us_on" and "processor_us_off", "processor_ratio" of the first over the second; the same of
// "response_us".
neptune::StatusOr<Measurement> MeasureOverhead(const OverheadOptions& options);

}  // namespace search::lab
