// The frontend's HTTP routes: parses requests, runs the search plan and renders the answers.
//
//   /                home page              /opensearch.xml   for browsers
//   /search          html, json, rss, atom  /style..., icon   static files, cached forever
//   /suggest         completions
//   /doc/ID          cached copy            /healthz /readyz /metrics /statusz /robots.txt
//   /help            query language         /favicon.ico
//   /openapi.json    machine-readable description of all routes
//   /documents       POST, DELETE: changes of documents, if there is a writer
//
// Source: RFC 9457 (problems), RFC 9110 (Retry-After, Cache-Control).
// Threads: thread-safe; Handle on a user-level thread of the node.
// Errors: sent as HTTP answers: 400 names the invalid parameter; 404, 405; 401 and 403 by
//   client_class.h; 403 by operator_access.h; 429 by rate_limit.h; 503 with Retry-After if
//   overloaded or if no index partition answered. Pages for browsers, problem documents for
//   programs.
// Limits: SearchRequestLimits; those of the HTTP server and of the search plan.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/console/status_gatherer.h"
#include "frontend/documents/document_routes.h"
#include "frontend/http/access_log.h"
#include "frontend/http/gateway_metrics.h"
#include "frontend/http/operator_access.h"
#include "frontend/http/rate_limit.h"
#include "frontend/http/readiness.h"
#include "frontend/model/client_class.h"
#include "frontend/render/render.h"
#include "frontend/search_plan/search_plan.h"
#include "frontend/trace/trace_log.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status_section.h"
#include "neptune/service/service_module.h"
#include "neptune/wire/http/http_router.h"

namespace search::frontend {

struct GatewayOptions {
  // Name, number of documents, and the address for links if a request has no usable Host header.
  Site site;
  // Absolute links always begin with the site's address and ignore the Host header. Needed with a
  // proxy that terminates TLS.
  bool has_fixed_address = false;
  // Connections use TLS, so that absolute links made from the Host header begin with https.
  bool is_https = false;
  // A request may name a class that has API keys without sending a key.
  bool trusts_class_header = false;
  // False: queries are stored neither in traces nor in logs.
  bool keeps_queries = true;
  // Fraction of the searches without a caller's trace that are sampled, i.e. leave spans on every
  // node they reach.
  double sampled_share = 0.01;
  // Limits the rate of searches, completions, documents and changes of each client.
  RateLimitOptions rate_limit;
  // Identify clients by the address that a proxy puts into X-Forwarded-For.
  bool trusts_forwarded = false;
  // Access to /console, /tracez and /statusz.
  OperatorAccessOptions operators;
  // Time limit of a change of documents.
  neptune::Duration document_write_timeout = std::chrono::seconds(5);
  // How long after start-up searches wait until every partition is known, to avoid partial answers
  // while announcements still arrive. Larger: fewer partial answers on a busy machine; longer waits
  // after a start of a cluster that lacks a partition.
  neptune::Duration meeting_timeout = std::chrono::milliseconds(800);
};

class HttpGateway {
 public:
  // The plan and everything that `context` refers to outlive the gateway.
  HttpGateway(SearchPlan& plan, const neptune::ModuleContext& context,
              const GatewayMetrics& metrics, const GatewayOptions& options);

  // Adds the routes for changes of documents. REQUIRES: called before the first request; the writer
  // outlives the gateway.
  void AddDocumentRoutes(DocumentWriter& writer, HtmlThreads& html_threads);

  // Logs searches to `log`. REQUIRES: called before the first request; the log outlives the
  // requests.
  void LogTo(AccessLog& log) { log_ = &log; }

  neptune::HttpResponse Handle(const neptune::HttpRequest& request) const;
  std::vector<neptune::HttpRoute> routes() const { return router_.routes(); }

  // Makes /readyz answer 503, so that balancers stop sending users here.
  void StartDraining() { draining_ = true; }
  // Waits for background work. REQUIRES: the last request has ended.
  void Finish() { statuses_.Finish(); }

 private:
  using Page = RenderedPage (*)(const Site&);

  static bool IsLimited(std::string_view path);
  std::optional<neptune::HttpResponse> RefuseForRate(const neptune::HttpRequest& request) const;
  void AddPages();
  void AddStaticFiles();
  void AddStatusRoutes();
  void AddOperatorPage(std::string_view path,
                       neptune::HttpResponse (HttpGateway::*show)(const neptune::HttpRequest&)
                           const);
  neptune::HttpResponse Search(const neptune::HttpRequest& request) const;
  neptune::TraceContext TraceOf(const neptune::HttpRequest& request) const;
  neptune::Status RunPlan(const neptune::HttpRequest& request, const SearchPageRequest& search,
                          const neptune::TraceContext& trace, SearchAnswer* answer,
                          std::string* service_class) const;
  neptune::HttpResponse RunSearch(const neptune::HttpRequest& request,
                                  const SearchPageRequest& search, SearchOutcome* outcome) const;
  neptune::HttpResponse Suggest(const neptune::HttpRequest& request) const;
  neptune::StatusOr<SuggestedTexts> RunSuggest(const neptune::HttpRequest& request,
                                               std::string* typed) const;
  neptune::HttpResponse Document(const neptune::HttpRequest& request) const;
  neptune::HttpResponse Ready(const neptune::HttpRequest& request) const;
  neptune::HttpResponse Console(const neptune::HttpRequest& request) const;
  neptune::HttpResponse Traces(const neptune::HttpRequest& request) const;
  neptune::HttpResponse NodeStatus(const neptune::HttpRequest& request) const;
  Readiness CurrentReadiness() const;
  void WaitForMembership() const;
  Site SiteOf(const neptune::HttpRequest& request) const;

  SearchPlan& plan_;
  neptune::Client& client_;
  neptune::World& world_;
  const neptune::MetricsRegistry& registry_;
  const neptune::StatusSections& sections_;
  const std::string node_name_;
  const neptune::TimePoint started_;
  const GatewayMetrics metrics_;
  const GatewayOptions options_;
  const ClientClasses classes_;
  const OperatorAccess operators_;
  mutable RateLimit rate_limit_;
  neptune::HttpRouter router_;
  mutable TraceLog traces_;
  mutable StatusGatherer statuses_;
  AccessLog* log_ = nullptr;
  std::atomic<bool> draining_{false};
  mutable std::atomic<bool> has_met_{false};
};

}  // namespace search::frontend
