// The frontend's HTTP interface: limits the rate of each client and routes requests.
//
//   /                home page              /opensearch.xml   for browsers
//   /search          html, json, rss, atom  /style..., icon   static files, cached forever
//   /suggest         completions
//   /doc/ID          cached copy            /healthz /readyz /metrics /statusz /robots.txt
//   /help            query language         /favicon.ico
//   /openapi.json    machine-readable description of all routes
//   /documents       POST, DELETE: changes of documents, if there is a writer
//
//   search ─► page_fronts: a page that is repeated ─ else ─► search_routes
//   bytes of a search that was seen before ─► page_fronts (ShortWayOf) ─ else ─► as above
// Answers are compressed here, for clients that accept it, unless a route has done so.
//
//   page_routes, search_routes, status_routes, operator_routes, documents/document_routes ─► router
//
// Source: RFC 9457 (problems), RFC 9110 (Retry-After, Cache-Control).
// Threads: thread-safe; Handle on a user-level thread of the node.
// Errors: sent as HTTP answers: 400 names the invalid parameter; 404, 405; 401 and 403 by
//   client_class.h; 401, 403 and 421 by access_rules.h; 429 by rate_limit.h; 503 with Retry-After
//   if overloaded or if no index partition answered. Pages for browsers, problem documents for
//   programs.
// Limits: SearchRequestLimits; those of the HTTP server and of the search plan.

#pragma once

#include <optional>
#include <vector>

#include "frontend/documents/document_routes.h"
#include "frontend/http/access_log.h"
#include "frontend/http/access_rules.h"
#include "frontend/http/audit_log.h"
#include "frontend/http/frontend_readiness.h"
#include "frontend/http/gateway_metrics.h"
#include "frontend/http/gateway_options.h"
#include "frontend/http/operator_routes.h"
#include "frontend/http/page_fronts.h"
#include "frontend/http/rate_limit.h"
#include "frontend/http/search_routes.h"
#include "frontend/http/site_address.h"
#include "frontend/model/client_class.h"
#include "frontend/policy/reload_budget.h"
#include "frontend/search_plan/search_plan.h"
#include "frontend/trace/trace_log.h"
#include "neptune/service/service_module.h"
#include "neptune/wire/http/http_router.h"

namespace search::frontend {

class HttpGateway {
 public:
  // The plan and everything that `context` refers to outlive the gateway.
  HttpGateway(SearchPlan& plan, const neptune::ModuleContext& context,
              const GatewayMetrics& metrics, const GatewayOptions& options);

  // Adds the routes for changes of documents. REQUIRES: called before the first request; the writer
  // outlives the gateway.
  void AddDocumentRoutes(DocumentWriter& writer, HtmlThreads& html_threads);

  // See SearchRoutes::LogTo.
  void LogTo(AccessLog& log) {
    search_routes_.LogTo(log);
    pages_.LogTo(log);
  }

  // Writes changes of documents to `log`. REQUIRES: called before the first request; the log
  // outlives the requests.
  void AuditTo(AuditLog& log) { audit_ = &log; }

  // For HttpServerOptions::at_header: a client over its rate, or one that may not do what the route
  // does, is refused before its body is read, and so is a body larger than the route takes.
  neptune::HttpBodyPermit AtHeader(neptune::HttpRequest* head);
  neptune::HttpResponse Handle(const neptune::HttpRequest& request);
  std::vector<neptune::HttpRoute> routes() const { return router_.routes(); }

  // Makes /readyz answer 503, so that balancers stop sending users here.
  void StartDraining() { readiness_.StartDraining(); }
  const PageFronts& pages() const { return pages_; }
  // What answers repeated requests to the server of that loop from their bytes; null: nothing does.
  // The gateway outlives the server.
  neptune::HttpShortWay* ShortWayOf(const neptune::Loop* loop) const { return pages_.Of(loop); }
  // Waits for background work. REQUIRES: the last request has ended.
  void Finish() { operator_routes_.Finish(); }

 private:
  using ChangeHandler = neptune::HttpResponse (DocumentRoutes::*)(const neptune::HttpRequest&,
                                                                  ChangedDocuments*) const;

  // Looks at the head of a change only, before its body is read: who may not change documents is
  // refused.
  std::optional<neptune::HttpResponse> RefuseChange(const neptune::HttpRequest& request) const;
  // A change that RefuseChange did not refuse.
  neptune::HttpResponse Change(const DocumentRoutes& routes, ChangeHandler handle,
                               const neptune::HttpRequest& request);
  void Audit(const neptune::HttpRequest& request, int status, const ChangedDocuments& changed);
  // True if the client asks to pass the caches and may not now.
  bool IsReloadTooMany(const neptune::HttpRequest& request);
  neptune::HttpResponse Route(const neptune::HttpRequest& request);
  // Headers of every response.
  void AddHeaders(neptune::HttpResponse* response) const;
  // A page of results: one that is repeated, or one that is made now and perhaps kept.
  neptune::HttpResponse Search(const neptune::HttpRequest& request);
  // 429 if the client has exceeded its rate.
  std::optional<neptune::HttpResponse> RefuseForRate(const neptune::HttpRequest& request);
  // The page for browsers if the router has refused the request; else `response`.
  neptune::HttpResponse WithErrorPage(const neptune::HttpRequest& request,
                                      neptune::HttpResponse response) const;

  const GatewayMetrics metrics_;
  const GatewayOptions options_;
  const ClientClasses classes_;
  const AccessRules access_;
  neptune::World& world_;
  const SiteAddress address_;
  FrontendReadiness readiness_;
  TraceLog traces_;
  RateLimit rate_limit_;
  ReloadBudget reloads_;
  AuditLog* audit_ = nullptr;
  SearchRoutes search_routes_;
  PageFronts pages_;
  OperatorRoutes operator_routes_;
  neptune::HttpRouter router_;
};

}  // namespace search::frontend
