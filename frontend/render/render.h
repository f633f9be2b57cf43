// Renders every page the frontend sends in the format the client asked for: status, content type
// and body.
//
// No I/O, no clock.
// Threads: pure functions; the static files are immutable.
// Errors: none; every answer can be rendered.
// Limits: kCachedTextSizeMax bytes of a cached copy; the answer bounds everything else.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/console/cluster_state.h"
#include "frontend/model/answer.h"
#include "frontend/model/search_request.h"
#include "frontend/model/site.h"
#include "frontend/trace/search_trace.h"
#include "frontend/trace/trace_log.h"

namespace search::frontend {

// Bytes of a document's text that its cached copy shows; the page says how much is left out.
inline constexpr size_t kCachedTextSizeMax = size_t{1} << 20;

// Sent with every page. Only the site's own style sheet and icon may be loaded, and only the
// completion script may run, which may connect only to this site.
std::string_view ContentSecurityPolicy();

struct RenderedPage {
  int http_status = 200;
  std::string_view content_type;  // a literal
  std::string body;
};

// A file that pages link to. Its path changes with its content, so clients may cache it forever.
struct StaticFile {
  std::string_view path;
  std::string_view content_type;
  std::string_view body;
};

// The result page. An answer without results is rendered as a page, not as an error.
RenderedPage RenderAnswer(const SearchAnswer& answer, PageFormat format, const Site& site);

// Completions of `typed`, best first, as OpenSearch suggestions.
RenderedPage RenderSuggestions(std::string_view typed, std::span<const std::string> texts);

// HTML: a page with the search box. Other formats: an RFC 9457 problem, in XML for the feeds.
RenderedPage RenderError(const ErrorAnswer& error, PageFormat format, const Site& site);

RenderedPage RenderHomePage(const Site& site);
RenderedPage RenderHelpPage(const Site& site);
// `format` is kHtml or kJson; the JSON form has the whole text.
RenderedPage RenderCachedDocument(const CachedDocument& document, PageFormat format,
                                  const Site& site);

// The console: state of the cluster and the latest kept searches. `format` is kHtml or kJson.
// `refresh_s`: interval in seconds at which the page reloads itself; 0: never.
RenderedPage RenderConsole(const ClusterState& state, const std::vector<TraceLog::Kept>& searches,
                           uint32_t refresh_s, PageFormat format, const Site& site);

// One kept trace, and the list of all kept traces. `format` is kHtml or kJson.
RenderedPage RenderTrace(const SearchTrace& trace, PageFormat format, const Site& site);
RenderedPage RenderTraceList(const std::vector<TraceLog::Kind>& kinds, PageFormat format,
                             const Site& site);

// The OpenSearch description document, by which browsers add the site as a search engine.
RenderedPage RenderOpenSearchDescription(const Site& site);

// The style sheet and the icon. Every page needs them to be served at their paths.
std::span<const StaticFile> StaticFiles();

}  // namespace search::frontend
