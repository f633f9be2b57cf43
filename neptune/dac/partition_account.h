// The account of an aggregation's partitions: every expected partition either contributed or is
// missing, exactly once, whatever the servers below reported.
//
// Source: [Chu03] 3.2 (contributing partitions).
// No I/O, no clock. Threads: a pure function.
// Limits: O(n log n) for n partitions.

#pragma once

#include <vector>

#include "neptune/base/ids.h"
#include "neptune/base/status.h"
#include "neptune/dac/aggregation_message.h"

namespace neptune {

// Removes from the answer's lists what is not expected or was listed before, contributions first,
// and adds the expected partitions that are in neither list as missing, with the reason `unlisted`.
// Partitions that are not expected are removed from `ended_early`, which is sorted.
void BalanceAccount(std::vector<PartitionId> expected, const Status& unlisted,
                    AggregationAnswer* answer);

}  // namespace neptune
