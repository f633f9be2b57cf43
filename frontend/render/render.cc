#include "frontend/render/render.h"

#include "frontend/render/feed/feed_pages.h"
#include "frontend/render/html/console_page.h"
#include "frontend/render/html/pages.h"
#include "frontend/render/html/trace_pages.h"
#include "frontend/render/json/console_json.h"
#include "frontend/render/json/json_pages.h"
#include "frontend/render/json/trace_json.h"

namespace search::frontend {
namespace {

constexpr const char* kHtmlType = "text/html; charset=utf-8";

RenderedPage HtmlPage(int http_status, std::string body) {
  return {http_status, kHtmlType, std::move(body)};
}

}  // namespace

RenderedPage RenderAnswer(const SearchAnswer& answer, PageFormat format, const Site& site) {
  switch (format) {
    case PageFormat::kJson:
      return {200, "application/json", json::AnswerDocument(answer)};
    case PageFormat::kRss:
      return {200, "application/rss+xml; charset=utf-8", feed::RssFeed(answer, site)};
    case PageFormat::kAtom:
      return {200, "application/atom+xml; charset=utf-8", feed::AtomFeed(answer, site)};
    case PageFormat::kHtml:
      break;
  }
  return HtmlPage(200, html::ResultPage(answer, site));
}

RenderedPage RenderError(const ErrorAnswer& error, PageFormat format, const Site& site) {
  switch (format) {
    case PageFormat::kJson:
      return {error.http_status, "application/problem+json", json::ProblemDocument(error)};
    case PageFormat::kRss:
    case PageFormat::kAtom:
      return {error.http_status, "application/problem+xml; charset=utf-8",
              feed::ProblemDocument(error)};
    case PageFormat::kHtml:
      break;
  }
  return HtmlPage(error.http_status, html::ErrorPage(error, site));
}

RenderedPage RenderSuggestions(std::string_view typed, std::span<const std::string> texts) {
  return {200, "application/x-suggestions+json", json::SuggestionsDocument(typed, texts)};
}

RenderedPage RenderHomePage(const Site& site) { return HtmlPage(200, html::HomePage(site)); }

RenderedPage RenderHelpPage(const Site& site) { return HtmlPage(200, html::HelpPage(site)); }

RenderedPage RenderCachedDocument(const CachedDocument& document, PageFormat format,
                                  const Site& site) {
  if (format == PageFormat::kJson) {
    return {200, "application/json", json::StoredDocument(document)};
  }
  return HtmlPage(200, html::DocumentPage(document, site));
}

RenderedPage RenderConsole(const ClusterState& state, const std::vector<TraceLog::Kept>& searches,
                           uint32_t refresh_s, PageFormat format, const Site& site) {
  if (format == PageFormat::kJson) {
    return {200, "application/json", json::ConsoleDocument(state, searches)};
  }
  return HtmlPage(200, html::ConsolePage(state, searches, refresh_s, site));
}

RenderedPage RenderTrace(const SearchTrace& trace, PageFormat format, const Site& site) {
  if (format == PageFormat::kJson) return {200, "application/json", json::TraceDocument(trace)};
  return HtmlPage(200, html::TracePage(trace, site));
}

RenderedPage RenderTraceList(const std::vector<TraceLog::Kind>& kinds, PageFormat format,
                             const Site& site) {
  if (format == PageFormat::kJson) return {200, "application/json", json::TraceListDocument(kinds)};
  return HtmlPage(200, html::TraceListPage(kinds, site));
}

RenderedPage RenderOpenSearchDescription(const Site& site) {
  return {200, "application/opensearchdescription+xml; charset=utf-8",
          feed::OpenSearchDescription(site)};
}

}  // namespace search::frontend
