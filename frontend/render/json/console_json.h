// The data of the console as JSON.
//
// Threads: pure functions.

#pragma once

#include <string>
#include <vector>

#include "frontend/console/cluster_state.h"
#include "frontend/trace/trace_log.h"

namespace search::frontend::json {

std::string ConsoleDocument(const ClusterState& state, const std::vector<TraceLog::Kept>& searches);

}  // namespace search::frontend::json
