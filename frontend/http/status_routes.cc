#include "frontend/http/status_routes.h"

#include "frontend/http/http_answers.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::HttpRequest;
using neptune::HttpResponse;

HttpResponse Ready(const StatusParts& parts, const HttpRequest& request) {
  const FrontendReadiness& state = parts.readiness;
  Readiness readiness = state.Current();
  const bool wants_complete = request.Parameter("complete") == "1";
  const bool is_ready =
      !state.is_draining() && (wants_complete ? readiness.complete : readiness.ready);
  if (!parts.access.MaySeeStatus(AccessAskOf(request))) readiness.services.clear();
  HttpResponse response = HttpResponse::Json(is_ready ? 200 : 503, readiness.Json());
  response.headers.Set("Cache-Control", "no-store");
  if (!is_ready) response.headers.Set("Retry-After", neptune::StrCat(kRetryAfterSeconds));
  return response;
}

HttpResponse Metrics(const StatusParts& parts, const HttpRequest& request) {
  if (!parts.access.MaySeeStatus(AccessAskOf(request))) {
    parts.metrics.page_access_refused->Increment();
    return *parts.access.RefusePage(request);
  }
  HttpResponse response = HttpResponse::Text(200, parts.registry.Text());
  response.headers.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  return response;
}

}  // namespace

void AddStatusRoutes(const StatusParts& parts, neptune::HttpRouter* router) {
  router->Add("GET", "/healthz",
              [](const HttpRequest&) { return HttpResponse::Text(200, "ok\n"); });
  router->Add("GET", "/readyz",
              [parts](const HttpRequest& request) { return Ready(parts, request); });
  router->Add("GET", "/metrics",
              [parts](const HttpRequest& request) { return Metrics(parts, request); });
}

}  // namespace search::frontend
