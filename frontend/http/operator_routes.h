// Routes for operators: /console, /tracez and /statusz.
//
// Threads: thread-safe; the handlers run on user-level threads, and /console waits for the nodes'
//   answers (status_gatherer.h).
// Errors: sent as HTTP answers: 401, 403 and 421 by access_rules.h; 400 names the invalid
//   parameter; 404 for a trace that is not kept.

#pragma once

#include <string>

#include "frontend/console/status_gatherer.h"
#include "frontend/http/access_rules.h"
#include "frontend/http/frontend_readiness.h"
#include "frontend/http/gateway_metrics.h"
#include "frontend/http/site_address.h"
#include "frontend/trace/trace_log.h"
#include "neptune/base/status_section.h"
#include "neptune/service/service_module.h"
#include "neptune/wire/http/http_router.h"

namespace search::frontend {

class OperatorRoutes {
 public:
  // What the routes use; all of it outlives them.
  struct Parts {
    const AccessRules& access;
    const GatewayMetrics& metrics;
    const SiteAddress& address;
    const FrontendReadiness& readiness;
    const TraceLog& traces;
  };
  // What `context` refers to outlives the routes.
  OperatorRoutes(const neptune::ModuleContext& context, const Parts& parts);

  // REQUIRES: this outlives the router.
  void AddTo(neptune::HttpRouter* router);
  // Waits for background work. REQUIRES: the last request has ended.
  void Finish() { statuses_.Finish(); }

 private:
  using Handler = neptune::HttpResponse (OperatorRoutes::*)(const neptune::HttpRequest&);

  void Add(std::string_view path, Handler show, neptune::HttpRouter* router);
  neptune::HttpResponse Console(const neptune::HttpRequest& request);
  // The list of kept traces, or the one that the parameter `id` names.
  neptune::HttpResponse Traces(const neptune::HttpRequest& request);
  neptune::HttpResponse NodeStatus(const neptune::HttpRequest& request);

  neptune::World& world_;
  const neptune::StatusSections& sections_;
  const std::string node_name_;
  const Parts parts_;
  StatusGatherer statuses_;
};

}  // namespace search::frontend
