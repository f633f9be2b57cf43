// Routes for operators: /console, /tracez and /statusz.
//
// Threads: thread-safe; the handlers run on user-level threads, and /console waits for the nodes'
//   answers (status_gatherer.h).
// Errors: sent as HTTP answers: 403 by operator_access.h; 400 names the invalid parameter; 404 for
//   a trace that is not kept.

#pragma once

#include <string>

#include "frontend/console/status_gatherer.h"
#include "frontend/http/frontend_readiness.h"
#include "frontend/http/operator_access.h"
#include "frontend/http/site_address.h"
#include "frontend/trace/trace_log.h"
#include "neptune/base/status_section.h"
#include "neptune/service/service_module.h"
#include "neptune/wire/http/http_router.h"

namespace search::frontend {

class OperatorRoutes {
 public:
  // The arguments, and what `context` refers to, outlive the routes.
  OperatorRoutes(const neptune::ModuleContext& context, const OperatorAccessOptions& access,
                 const SiteAddress& address, const FrontendReadiness& readiness,
                 const TraceLog& traces);

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
  const OperatorAccess access_;
  const SiteAddress& address_;
  const FrontendReadiness& readiness_;
  const TraceLog& traces_;
  StatusGatherer statuses_;
};

}  // namespace search::frontend
