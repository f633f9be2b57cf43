// Traces of searches as JSON: as part of an answer, alone, and the list of kept traces.
//
// Threads: pure functions.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "frontend/trace/search_trace.h"
#include "frontend/trace/trace_log.h"

namespace search::frontend::json {

double Seconds(neptune::WallTime time);  // since 1970
// The search and its outcome, without spans.
nlohmann::ordered_json TraceSummary(const SearchTrace& trace);
// The member that trace=1 adds to an answer.
nlohmann::ordered_json TraceJson(const SearchTrace& trace);

std::string TraceDocument(const SearchTrace& trace);
std::string TraceListDocument(const std::vector<TraceLog::Kind>& kinds);

}  // namespace search::frontend::json
