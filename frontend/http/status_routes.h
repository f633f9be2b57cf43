// Routes for load balancers and monitoring: /healthz, /readyz, /metrics.
//
// Threads: the handlers are thread-safe.

#pragma once

#include "frontend/http/frontend_readiness.h"
#include "neptune/base/metrics.h"
#include "neptune/wire/http/http_router.h"

namespace search::frontend {

// REQUIRES: `readiness` and `registry` outlive the router.
void AddStatusRoutes(const FrontendReadiness& readiness, const neptune::MetricsRegistry& registry,
                     neptune::HttpRouter* router);

}  // namespace search::frontend
