// Traces of searches as JSON: within an answer, alone, and the list of those that are kept.
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
// Which search it was, and what became of it, without its spans.
nlohmann::ordered_json TraceSummary(const SearchTrace& trace);
// What trace=1 adds to an answer.
nlohmann::ordered_json TraceJson(const SearchTrace& trace);

std::string TraceDocument(const SearchTrace& trace);
std::string TraceListDocument(const std::vector<TraceLog::Kind>& kinds);

}  // namespace search::frontend::json
