// The routes that the search plan answers: /search, /suggest and /doc/ID.
//
//   request ─► class of the client ─► SearchPlan ─► trace log, access log, metrics ─► rendered page
//
// Threads: thread-safe; the handlers run on user-level threads.
// Errors: sent as HTTP answers: 400 names the invalid parameter; 401 and 403 by client_class.h;
//   404; 503 with Retry-After if overloaded or if no index partition answered.
// Limits: SearchRequestLimits; those of the search plan.

#pragma once

#include <optional>
#include <string>

#include "frontend/caching/cached_page.h"
#include "frontend/http/access_log.h"
#include "frontend/http/access_rules.h"
#include "frontend/http/frontend_readiness.h"
#include "frontend/http/gateway_metrics.h"
#include "frontend/http/site_address.h"
#include "frontend/model/client_class.h"
#include "frontend/model/search_request.h"
#include "frontend/search_plan/search_plan.h"
#include "frontend/trace/trace_log.h"
#include "neptune/wire/http/http_router.h"
#include "neptune/wire/trace_context.h"
#include "neptune/world/world.h"

namespace search::frontend {

inline constexpr char kSearchPath[] = "/search";
inline constexpr char kSuggestPath[] = "/suggest";
inline constexpr char kCachedCopyPrefix[] = "/doc/";

class SearchRoutes {
 public:
  // What the routes use; all of it outlives them.
  struct Parts {
    SearchPlan& plan;
    neptune::World& world;
    const GatewayMetrics& metrics;
    const ClientClasses& classes;
    const AccessRules& access;
    const SiteAddress& address;
    FrontendReadiness& readiness;
    TraceLog& traces;
    bool trusts_forwarded = false;  // see GatewayOptions
  };

  // `sampled_share`: see GatewayOptions.
  SearchRoutes(const Parts& parts, double sampled_share)
      : parts_(parts), sampled_share_(sampled_share) {}

  // A page of results. `*page` is set if the page may be repeated for the same request.
  neptune::HttpResponse Search(const neptune::HttpRequest& request,
                               std::optional<PageFacts>* page) const;

  // REQUIRES: this outlives the router.
  void AddTo(neptune::HttpRouter* router);
  // Logs searches to `log`. REQUIRES: called before the first request; the log outlives the
  // requests.
  void LogTo(AccessLog& log) { log_ = &log; }

 private:
  // A search that the plan ran, or that was refused before it ran.
  struct Run {
    neptune::Status status;
    SearchAnswer answer;
    std::string service_class;
  };

  neptune::HttpResponse Answer(const neptune::HttpRequest& request, const SearchPageRequest& search,
                               std::optional<PageFacts>* page) const;
  // Unset: the page must not be repeated.
  std::optional<PageFacts> FactsOf(const SearchAnswer& answer,
                                   const SearchPageRequest& search) const;
  Run RunPlan(const neptune::HttpRequest& request, const SearchPageRequest& search,
              const neptune::TraceContext& trace) const;
  // See trace_choice.h.
  neptune::TraceContext TraceOf(const neptune::HttpRequest& request) const;
  neptune::HttpResponse Suggest(const neptune::HttpRequest& request) const;
  neptune::StatusOr<SuggestedTexts> RunSuggest(const neptune::HttpRequest& request,
                                               const std::string& typed) const;
  neptune::HttpResponse CachedCopy(const neptune::HttpRequest& request) const;

  const Parts parts_;
  const double sampled_share_;
  AccessLog* log_ = nullptr;
};

}  // namespace search::frontend
