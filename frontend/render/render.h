// Every page the frontend sends, in the format the client wants: status, content type and body.
//
// Text in, text out: no I/O, no clock.
// Threads: pure functions; the static files are immutable.
// Errors: none; every answer can be shown.
// Limits: kCachedTextSizeMax bytes of a cached copy; the rest of what is shown is bounded by the
// answer.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/answer.h"
#include "frontend/console/cluster_state.h"
#include "frontend/search_request.h"
#include "frontend/site.h"
#include "frontend/trace/search_trace.h"
#include "frontend/trace/trace_log.h"

namespace search::frontend {

// Bytes of a document's text that its cached copy shows; what is left out is said on the page.
inline constexpr size_t kCachedTextSizeMax = size_t{1} << 20;

// Sent with every page: nothing but our own style sheet and icon is ever loaded, no script runs but the
// one that completes what is typed, which asks nobody but us.
std::string_view ContentSecurityPolicy();

struct RenderedPage {
  int http_status = 200;
  std::string content_type;
  std::string body;
};

// A file that pages link to. Its path changes with its content, so clients may keep it for ever.
struct StaticFile {
  std::string_view path;
  std::string_view content_type;
  std::string_view body;
};

// The result page. A page without results is a page, not an error.
RenderedPage RenderAnswer(const SearchAnswer& answer, PageFormat format, const Site& site);

// Completions of `typed`, best first, as OpenSearch suggestions.
RenderedPage RenderSuggestions(std::string_view typed, std::span<const std::string> texts);

// HTML: a page with the search box. Other formats: an RFC 9457 problem, in XML for the feeds.
RenderedPage RenderError(const ErrorAnswer& error, PageFormat format, const Site& site);

RenderedPage RenderHomePage(const Site& site);
RenderedPage RenderHelpPage(const Site& site);
// kHtml or kJson; the latter has the whole text.
RenderedPage RenderCachedDocument(const CachedDocument& document, PageFormat format,
                                  const Site& site);

// The OpenSearch description document: lets browsers add the site as a search engine.
// The cluster; kHtml or kJson.
RenderedPage RenderConsole(const ClusterState& state, const std::vector<TraceLog::Kept>& searches,
                           uint32_t refresh_s, PageFormat format, const Site& site);

// A search that was kept, and the list of them; kHtml or kJson.
RenderedPage RenderTrace(const SearchTrace& trace, PageFormat format, const Site& site);
RenderedPage RenderTraceList(const std::vector<TraceLog::Kind>& kinds, PageFormat format,
                             const Site& site);

RenderedPage RenderOpenSearchDescription(const Site& site);

// The style sheet and the icon; every page needs them served at their paths.
std::span<const StaticFile> StaticFiles();

}  // namespace search::frontend
