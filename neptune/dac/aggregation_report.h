// The outcome of a call: what contributed, what is missing, and whether the guarantee is met.
//
// Source: [Chu03] 3.2.
// No I/O, no clock. Threads: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>

#include "neptune/base/status.h"
#include "neptune/dac/aggregation_message.h"
#include "neptune/dac/call_plan.h"
#include "neptune/dac/dac.h"

namespace neptune {

// Number of `all` partitions that must contribute.
size_t NeededCount(double quality_min, size_t all);

// Number of the placed partitions that may be missing; those without a live replica are missing
// already.
uint16_t MissingCountMax(double quality_min, const Placement& placement);

// Errors: kUnavailable fewer partitions contributed than the request demands; the message has the
// counts and the most informative reason.
Status JudgeQuality(const AggregationRequest& request, const AggregationReport& report);

// Describes the outcome of each partition and server. An error in `abandoned` means that the call
// was given up: no server's partitions are accounted for. The times of the call are left 0.
AggregationReport ReportOf(const CallPlan& plan, const Status& abandoned, AggregationAnswer answer);

}  // namespace neptune
