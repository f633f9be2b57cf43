#include "frontend/http/operator_routes.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/http/http_answers.h"
#include "frontend/render/render.h"
#include "neptune/admin/admin_pages.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/http/problem.h"

namespace search::frontend {
namespace {

using neptune::HttpRequest;
using neptune::HttpResponse;
using neptune::StatusOr;

constexpr uint32_t kRefreshMaxS = 3600;
constexpr size_t kConsoleSearchCount = 10;

// The interval at which the console reloads itself; 0: never.
StatusOr<uint32_t> RefreshOf(const HttpRequest& request) {
  const auto given = request.Parameter("refresh");
  if (!given) return 0;
  const uint32_t refresh_s = ParseWhole<uint32_t>(*given).value_or(UINT32_MAX);
  if (refresh_s <= kRefreshMaxS) return refresh_s;
  return neptune::InvalidArgument("parameter refresh: must be a number of seconds from 0 to ",
                                  kRefreshMaxS, ", not '", *given, "'");
}

}  // namespace

OperatorRoutes::OperatorRoutes(const neptune::ModuleContext& context, const Parts& parts)
    : world_(context.world),
      sections_(context.status),
      node_name_(context.node.value()),
      parts_(parts),
      statuses_(context.client, context.world) {}

void OperatorRoutes::AddTo(neptune::HttpRouter* router) {
  Add("/console", &OperatorRoutes::Console, router);
  Add("/tracez", &OperatorRoutes::Traces, router);
  Add("/statusz", &OperatorRoutes::NodeStatus, router);
}

void OperatorRoutes::Add(std::string_view path, Handler show, neptune::HttpRouter* router) {
  router->Add("GET", path, [this, show](const HttpRequest& request) {
    if (std::optional<HttpResponse> refusal = parts_.access.RefusePage(request)) {
      parts_.metrics.page_access_refused->Increment();
      return *std::move(refusal);
    }
    HttpResponse response = (this->*show)(request);
    response.headers.Set("Cache-Control", "no-store");
    return response;
  });
}

HttpResponse OperatorRoutes::Console(const HttpRequest& request) {
  const StatusOr<uint32_t> refresh_s = RefreshOf(request);
  if (!refresh_s.ok()) return neptune::ProblemResponse(refresh_s.status());
  return ToResponse(RenderConsole(*statuses_.State(), parts_.traces.Latest(kConsoleSearchCount),
                                  *refresh_s, FormatOf(request), parts_.address.Of(request)));
}

HttpResponse OperatorRoutes::Traces(const HttpRequest& request) {
  const PageFormat format = FormatOf(request);
  const Site site = parts_.address.Of(request);
  const auto id = request.Parameter("id");
  if (!id.has_value()) return ToResponse(RenderTraceList(parts_.traces.Snapshot(), format, site));
  if (const TraceLog::Kept trace = parts_.traces.Find(*id)) {
    return ToResponse(RenderTrace(*trace, format, site));
  }
  return ToResponse(
      ToError(neptune::NotFound("no trace with this id is kept; it may have been dropped"), {}),
      format, site);
}

HttpResponse OperatorRoutes::NodeStatus(const HttpRequest& request) {
  neptune::AdminPageHeader header;
  header.node_name = node_name_;
  header.now = world_.wall_time();
  header.uptime = neptune::this_thread::Now() - parts_.readiness.started();
  if (parts_.readiness.is_draining()) header.not_ready_reasons.push_back("the node is stopping");
  if (!parts_.readiness.Current().ready) {
    header.not_ready_reasons.push_back("no index partition has a live replica");
  }
  const std::vector<neptune::StatusReport> reports = sections_.Render();
  HttpResponse response = FormatOf(request) == PageFormat::kJson
                              ? HttpResponse::Json(200, RenderStatusJson(header, reports))
                              : HttpResponse::Html(200, RenderStatusHtml(header, reports));
  response.headers.Set("Content-Security-Policy", neptune::AdminContentSecurityPolicy());
  return response;
}

}  // namespace search::frontend
