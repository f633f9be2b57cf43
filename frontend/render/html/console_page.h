// The console page: services and their partitions, nodes and their load, the latest searches, and
// the status tables of all nodes, merged.
//
// Threads: pure functions.

#pragma once

#include <string>
#include <vector>

#include "frontend/console/cluster_state.h"
#include "frontend/model/site.h"
#include "frontend/trace/trace_log.h"

namespace search::frontend::html {

// `refresh_s`: interval in seconds at which the page reloads itself; 0: never.
std::string ConsolePage(const ClusterState& state, const std::vector<TraceLog::Kept>& searches,
                        uint32_t refresh_s, const Site& site);

}  // namespace search::frontend::html
