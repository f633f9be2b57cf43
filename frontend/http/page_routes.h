// Routes of pages and files that depend on no other service:
//
//   /   /help   /opensearch.xml   /openapi.json   /robots.txt   style sheet, script, icon
//
// Threads: the handlers are thread-safe.

#pragma once

#include "frontend/http/site_address.h"
#include "neptune/wire/http/http_router.h"

namespace search::frontend {

// REQUIRES: `address` outlives the router.
void AddPageRoutes(const SiteAddress& address, neptune::HttpRouter* router);

}  // namespace search::frontend
