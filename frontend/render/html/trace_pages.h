// Pages of kept traces: the list, and one trace with its explanation, reduction tree and spans.
//
// Threads: pure functions.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/model/site.h"
#include "frontend/render/markup/markup_writer.h"
#include "frontend/trace/search_trace.h"
#include "frontend/trace/trace_log.h"

namespace search::frontend::html {

// "2026-03-01 09:30:00.000".
std::string Utc(neptune::WallTime time);
// Writes one row per search, with a link to its page.
void WriteTraceTable(MarkupWriter& html, std::string_view caption,
                     const std::vector<TraceLog::Kept>& traces);

std::string TracePage(const SearchTrace& trace, const Site& site);
std::string TraceListPage(const std::vector<TraceLog::Kind>& kinds, const Site& site);

}  // namespace search::frontend::html
