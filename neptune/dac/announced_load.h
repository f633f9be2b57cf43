// The load of a node in its announcement: its pending work, and the mean operator costs of each of
// its services, in the order of the announcement.
//
//   section kAggregationLoadSection  version=1 pending(4) then for each service: local(4) reduce(4)
//
// Source: [Chu03] 4.5.
// Threads: pure functions.
// Units: microseconds until all processors of the node have finished the work; big-endian.
// Errors: a section that is malformed or of another version counts as none.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "neptune/base/ids.h"
#include "neptune/dac/cost_meter.h"
#include "neptune/dac/load_estimator.h"
#include "neptune/membership/announcement.h"

namespace neptune {

// Tag of the announcement section with the node's load.
inline constexpr uint8_t kAggregationLoadSection = 1;

std::string EncodeAnnouncedLoad(const CostMeter& costs, int processor_count,
                                const std::vector<HostedService>& services);
// Returns the node's load for the service; nullopt if the announcement has none.
std::optional<ServerLoad> AnnouncedLoadOf(const Announcement& announcement,
                                          const ServiceName& service);

}  // namespace neptune
