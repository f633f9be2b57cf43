// Pages of the searches that are kept: the list, and one with its explanation, picture and table.
//
// Source: none. Layer: frontend, render. Threads: pure functions.

#pragma once

#include <string>
#include <vector>

#include "frontend/site.h"
#include "frontend/trace/search_trace.h"
#include "frontend/trace/trace_log.h"

namespace search::frontend::html {

std::string TracePage(const SearchTrace& trace, const Site& site);
std::string TraceListPage(const std::vector<TraceLog::Kind>& kinds, const Site& site);

}  // namespace search::frontend::html
