#include "frontend/http/status_routes.h"

#include "frontend/http/http_answers.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::HttpRequest;
using neptune::HttpResponse;

HttpResponse Ready(const FrontendReadiness& state, const HttpRequest& request) {
  const Readiness readiness = state.Current();
  const bool wants_complete = request.Parameter("complete") == "1";
  const bool is_ready =
      !state.is_draining() && (wants_complete ? readiness.complete : readiness.ready);
  HttpResponse response = HttpResponse::Json(is_ready ? 200 : 503, readiness.Json());
  response.headers.Set("Cache-Control", "no-store");
  if (!is_ready) response.headers.Set("Retry-After", neptune::StrCat(kRetryAfterSeconds));
  return response;
}

}  // namespace

void AddStatusRoutes(const FrontendReadiness& readiness, const neptune::MetricsRegistry& registry,
                     neptune::HttpRouter* router) {
  router->Add("GET", "/healthz",
              [](const HttpRequest&) { return HttpResponse::Text(200, "ok\n"); });
  router->Add("GET", "/readyz",
              [&readiness](const HttpRequest& request) { return Ready(readiness, request); });
  router->Add("GET", "/metrics", [&registry](const HttpRequest&) {
    HttpResponse response = HttpResponse::Text(200, registry.Text());
    response.headers.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    return response;
  });
}

}  // namespace search::frontend
