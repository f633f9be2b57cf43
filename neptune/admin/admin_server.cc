#include "neptune/admin/admin_server.h"

#include <glog/logging.h>

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "neptune/base/strings.h"
#include "neptune/wire/http/problem.h"

namespace neptune {
namespace {

constexpr size_t kThreadCountMax = 256;
constexpr int kRefreshSecondsMax = 3600;
// The node is administered even when it has no descriptors left; the last one closes connections.
constexpr int kSpareDescriptorCount = 5;
constexpr Duration kDrainTime = std::chrono::seconds(1);

HttpServerOptions ServerOptions(const HttpServerMetrics* metrics) {
  HttpServerOptions options;
  options.reader.body_size_max = kAdminBodySizeMax;
  options.connection_count_max = kAdminConnectionCountMax;
  options.turned_away_count_max = 8;
  options.in_flight_count_max = 4;
  options.metrics = metrics;
  return options;
}

// The state is valid for a moment only, so responses must not be cached.
HttpResponse NotCached(HttpResponse response) {
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

}  // namespace

AdminServer::AdminServer(World& world, Loop& loop, AdminSources sources)
    : world_(world), loop_(loop), sources_(std::move(sources)) {
  AddOwnPages();
}

AdminServer::~AdminServer() = default;

void AdminServer::AddPage(std::string_view path, std::string_view description, HttpHandler handler,
                          AdminNeed need) {
  AddRoute("GET", path, std::move(handler), need);
  links_.push_back({std::string(path), std::string(description)});
}

void AdminServer::AddAction(std::string_view method, std::string_view path, HttpHandler handler) {
  AddRoute(
      method, path,
      [handler = std::move(handler)](const HttpRequest& request) {
        return NotCached(handler(request));
      },
      AdminNeed::kChange);
}

void AdminServer::AddRoute(std::string_view method, std::string_view path, HttpHandler handler,
                           AdminNeed need) {
  HttpRouteOptions options;
  if (need == AdminNeed::kChange) options.body_size_max = kAdminBodySizeMax;
  options.check = [this, need](const HttpRequest& request) -> std::optional<HttpResponse> {
    std::optional<AdminAccess::Refused> refused = access_->Refuse(request, need);
    if (!refused) return std::nullopt;
    Counter* const counter = refusals_[static_cast<size_t>(refused->reason)];
    if (counter != nullptr) counter->Increment();
    return std::move(refused->response);
  };
  router_.Add(method, path, std::move(handler), options);
}

void AdminServer::AddOwnPages() {
  AddRoute(
      "GET", "/",
      [this](const HttpRequest&) {
        HttpResponse response = HttpResponse::Html(200, RenderIndexHtml(PageHeader(), links_));
        response.headers.Set("Content-Security-Policy", AdminContentSecurityPolicy());
        return NotCached(std::move(response));
      },
      AdminNeed::kRead);
  AddPage("/statusz", "status of each part of this node",
          [this](const HttpRequest& request) { return StatusPage(request); });
  AddPage("/metrics", "counters, gauges and histograms for Prometheus",
          [this](const HttpRequest&) { return Metrics(); });
  AddPage(
      "/readyz", "whether this node is ready to serve, with reasons if not",
      [this](const HttpRequest&) { return Ready(); }, AdminNeed::kNothing);
  AddPage(
      "/healthz", "whether this process is alive, with what hangs if not",
      [this](const HttpRequest&) { return Healthy(); }, AdminNeed::kNothing);
}

void AdminServer::Start(const Endpoint& at,
                        absl::AnyInvocable<void(StatusOr<Endpoint>)> on_started) {
  loop_.Post([this, at, on_started = std::move(on_started)]() mutable { on_started(Listen(at)); });
}

StatusOr<Endpoint> AdminServer::Listen(const Endpoint& at) {
  CHECK(server_ == nullptr) << "the admin server was started twice";
  started_ = loop_.Now();
  const HttpServerMetrics* metrics = nullptr;
  if (sources_.metrics != nullptr) {
    NEPTUNE_ASSIGN_OR_RETURN(http_metrics_, HttpServerMetrics::Make(*sources_.metrics, "admin"));
    metrics = &http_metrics_;
    for (size_t i = 0; i < kAdminRefusalCount; ++i) {
      NEPTUNE_ASSIGN_OR_RETURN(
          refusals_[i],
          sources_.metrics->AddCounter("neptune_admin_refusals_total",
                                       "Requests to the administration port that were refused.",
                                       {{"reason", kAdminRefusalNames[i]}}));
    }
  }
  access_.emplace(AdminAccessOptions{.token = sources_.token,
                                     .own_address = at.address,
                                     .is_member = sources_.is_member,
                                     .for_network = sources_.for_network});
  threads_ = std::make_unique<ThreadScheduler>(
      loop_, ThreadSchedulerOptions{.thread_count_max = kThreadCountMax});
  HttpServerOptions options = ServerOptions(metrics);
  options.network = sources_.network;
  options.at_header = [this](HttpRequest* head) { return router_.AtHeader(head); };
  server_ = std::make_unique<HttpServer>(
      world_, *threads_, options,
      [this](const HttpRequest& request) { return router_.Handle(request); });
  NEPTUNE_RETURN_IF_ERROR(server_->Listen(at, {.spare_count = kSpareDescriptorCount}));
  return server_->local();
}

void AdminServer::Stop(Task on_stopped) {
  loop_.Post([this, on_stopped = std::move(on_stopped)]() mutable {
    stop_waiters_.push_back(std::move(on_stopped));
    if (server_ == nullptr) return FinishStop();
    threads_->Stop();  // waiting handlers get kStopping
    server_->Drain(loop_.Now() + kDrainTime, [this] { FinishStop(); });
  });
}

void AdminServer::FinishStop() {
  server_.reset();
  threads_.reset();
  for (Task& waiter : std::exchange(stop_waiters_, {})) waiter();
}

AdminPageHeader AdminServer::PageHeader() const {
  return {.node_name = sources_.node_name,
          .now = world_.wall_time(),
          .uptime = loop_.Now() - started_,
          .not_ready_reasons = NotReadyReasons()};
}

std::vector<std::string> AdminServer::NotReadyReasons() const {
  if (sources_.readiness == nullptr) return {};
  return sources_.readiness();
}

HttpResponse AdminServer::Ready() const {
  const std::vector<std::string> reasons = NotReadyReasons();
  if (reasons.empty()) return NotCached(HttpResponse::Text(200, "ready\n"));
  return ProblemResponse(Unavailable(absl::StrJoin(reasons, "; ")));
}

HttpResponse AdminServer::Healthy() const {
  const std::vector<std::string> reasons =
      sources_.health == nullptr ? std::vector<std::string>() : sources_.health();
  if (reasons.empty()) return NotCached(HttpResponse::Text(200, "ok\n"));
  return ProblemResponse(Unavailable(absl::StrJoin(reasons, "; ")));
}

HttpResponse AdminServer::Metrics() const {
  HttpResponse response{.status = 200, .headers = {}, .body = {}};
  response.headers.Add("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  if (sources_.metrics != nullptr) response.body = sources_.metrics->Text();
  return NotCached(std::move(response));
}

HttpResponse AdminServer::StatusPage(const HttpRequest& request) const {
  std::vector<StatusReport> reports;
  const auto section = request.Parameter("section");
  if (section && sources_.sections != nullptr) {
    StatusOr<StatusReport> report = sources_.sections->Render(*section);
    if (!report.ok()) return ProblemResponse(report.status());
    reports.push_back(*std::move(report));
  } else if (sources_.sections != nullptr) {
    reports = sources_.sections->Render();
  }
  const std::string_view format = request.Parameter("format").value_or("html");
  if (format == "json") {
    return NotCached(HttpResponse::Json(200, RenderStatusJson(PageHeader(), reports)));
  }
  if (format != "html") {
    return ProblemResponse(InvalidArgument("format must be html or json, not ", format));
  }
  HttpResponse response = HttpResponse::Html(200, RenderStatusHtml(PageHeader(), reports));
  response.headers.Set("Content-Security-Policy", AdminContentSecurityPolicy());
  if (const auto refresh = request.Parameter("refresh")) {
    int seconds = 0;
    if (!absl::SimpleAtoi(ToAbsl(*refresh), &seconds) || seconds < 1 ||
        seconds > kRefreshSecondsMax) {
      return ProblemResponse(
          InvalidArgument("refresh must be 1 to ", kRefreshSecondsMax, " seconds"));
    }
    response.headers.Add("Refresh", StrCat(seconds));
  }
  return NotCached(std::move(response));
}

}  // namespace neptune
