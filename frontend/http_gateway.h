// The frontend's HTTP routes: takes requests apart, runs the search plan, renders what comes back.
//
//   /                home page              /opensearch.xml   for browsers
//   /search          html, json, rss, atom  /style..., icon   static files, kept for ever
//   /suggest         completions
//   /doc/ID          cached copy            /healthz /readyz /metrics /statusz /robots.txt
//   /help            query language         /favicon.ico
//   /openapi.json    all of these, for programs
//   /documents       POST, DELETE: documents that change, if there is a writer
//
// Source: RFC 9457 (problems), RFC 9110 (Retry-After, Cache-Control).
// Threads: thread-safe; Handle on a user-level thread of the node.
// Errors: as answers: 400 names the wrong parameter, 404, 405, 401 and 403 by client_class.h, 403 by operator_access.h, 429 by rate_limit.h, 503 with Retry-After when overloaded
//   or when no index partition answered. Pages for browsers, problem documents for programs.
// Limits: SearchRequestLimits; those of the HTTP server and of the search plan.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/access_log.h"
#include "frontend/client_class.h"
#include "frontend/console/status_gatherer.h"
#include "frontend/documents/document_routes.h"
#include "frontend/gateway_metrics.h"
#include "frontend/operator_access.h"
#include "frontend/rate_limit.h"
#include "frontend/readiness.h"
#include "frontend/render/render.h"
#include "frontend/search_plan/search_plan.h"
#include "frontend/trace/trace_log.h"
#include "neptune/base/metrics.h"
#include "neptune/base/status_section.h"
#include "neptune/service/service_module.h"
#include "neptune/wire/http/http_router.h"

namespace search::frontend {

struct GatewayOptions {
  // Name, address for links where a request has no usable Host header, number of documents.
  Site site;
  // Whether absolute links begin with the site's address whatever the Host header says: behind a proxy that speaks TLS.
  bool has_fixed_address = false;
  // Whether its connections are TLS: what absolute links begin with otherwise.
  bool is_https = false;
  // Whether a request may name a class that has API keys without one.
  bool trusts_class_header = false;
  // False: no query is stored, in no trace and no log.
  bool keeps_queries = true;
  // Share of the searches without a trace of their own whose calls leave spans on every node.
  double sampled_share = 0.01;
  // Searches, completions, documents and changes of one client.
  RateLimitOptions rate_limit;
  // Clients are told apart by what a proxy says of them.
  bool trusts_forwarded = false;
  // Who sees /console, /tracez and /statusz.
  OperatorAccessOptions operators;
  // How long a change of documents may take.
  neptune::Duration document_write_timeout = std::chrono::seconds(5);
  // How long after its start searches wait until every partition is known, rather than that they miss what is there. Larger:
  // more patience with a busy machine; after a start of the whole cluster without some partition, longer waits.
  neptune::Duration meeting_timeout = std::chrono::milliseconds(800);
};

class HttpGateway {
 public:
  // Everything that `context` refers to and the plan outlive the gateway.
  HttpGateway(SearchPlan& plan, const neptune::ModuleContext& context,
              const GatewayMetrics& metrics, const GatewayOptions& options);

  // Offers the routes of documents that change; before the first request. The writer outlives the gateway.
  void AddDocumentRoutes(DocumentWriter& writer, HtmlThreads& html_threads);

  // Searches are logged there; before the first request. The log outlives the gateway's requests.
  void LogTo(AccessLog& log) { log_ = &log; }

  neptune::HttpResponse Handle(const neptune::HttpRequest& request) const;
  std::vector<neptune::HttpRoute> routes() const { return router_.routes(); }

  // From now on /readyz says no, so that nobody sends new users here.
  void StartDraining() { draining_ = true; }
  // Waits for what goes on without a request. After the last one.
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
