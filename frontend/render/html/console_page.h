// The cluster on one page: services and their partitions, nodes and their load, latest searches, and what nodes say of
// themselves, side by side.
//
// Threads: pure functions.

#pragma once

#include <string>
#include <vector>

#include "frontend/console/cluster_state.h"
#include "frontend/site.h"
#include "frontend/trace/trace_log.h"

namespace search::frontend::html {

// `refresh_s`: the page loads itself anew so often; 0: it does not.
std::string ConsolePage(const ClusterState& state, const std::vector<TraceLog::Kept>& searches,
                        uint32_t refresh_s, const Site& site);

}  // namespace search::frontend::html
