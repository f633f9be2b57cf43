// Routes for load balancers and monitoring: /healthz, /readyz, /metrics.
//
// /healthz is for everyone, and so is the status of /readyz with whether the frontend is ready and
// complete. How many partitions are alive, and the metrics, are for those whom AccessRules lets see
// them.
//
// Threads: the handlers are thread-safe.

#pragma once

#include "frontend/http/access_rules.h"
#include "frontend/http/frontend_readiness.h"
#include "frontend/http/gateway_metrics.h"
#include "neptune/base/metrics.h"
#include "neptune/wire/http/http_router.h"

namespace search::frontend {

struct StatusParts {
  const AccessRules& access;
  const GatewayMetrics& metrics;
  const FrontendReadiness& readiness;
  const neptune::MetricsRegistry& registry;
};

// REQUIRES: the parts outlive the router.
void AddStatusRoutes(const StatusParts& parts, neptune::HttpRouter* router);

}  // namespace search::frontend
