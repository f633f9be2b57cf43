// The overhead of capsules: a service of the capsule paper on real nodes, alternately with and
// without them.
//
// Two clusters of the service run in this process, and requests are offered to them in turns (on,
// off, off, on, then in reverse), so that other work of the machine affects both. The processor
// time is that of the whole process, client included.
//
// Source: [Chu05] VI.B.
// Threads: the calling kernel thread blocks; one such run at a time per machine.
// Units: real seconds; processor time is user and system.
// Errors: those of RealDependencyCluster; kUnavailable a turn lost more than one request and more
//   than one in a hundred.

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
  // Length of a turn; there are sixteen, after a warm-up turn on each side.
  double turn_s = 0.2;
};

// Returns "processor_us_on" and "processor_us_off" per request and their ratio "processor_ratio";
// the same for "response_us".
neptune::StatusOr<Measurement> MeasureOverhead(const OverheadOptions& options);

}  // namespace search::lab
