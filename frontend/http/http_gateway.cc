#include "frontend/http/http_gateway.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "frontend/http/http_answers.h"
#include "frontend/http/page_routes.h"
#include "frontend/http/status_routes.h"
#include "neptune/base/strings.h"
#include "neptune/service/client.h"
#include "neptune/service/node_loops.h"
#include "neptune/wire/http/content_coding.h"
#include "neptune/wire/http/problem.h"

namespace search::frontend {
namespace {

using neptune::HttpRequest;
using neptune::HttpResponse;

// Health checks, metrics, operators' pages and static files are not limited.
bool IsLimited(std::string_view path) {
  return path == kSearchPath || path == kSuggestPath || path.starts_with(kCachedCopyPrefix) ||
         path.starts_with(kDocumentsPath);
}

std::vector<neptune::Loop*> ServingLoops(neptune::Client& client) {
  std::vector<neptune::Loop*> loops;
  for (const neptune::NodeLoop* const loop : client.loops().serving()) loops.push_back(loop->loop);
  return loops;
}

// What is sent for the response: a page is kept as it is sent.
void Encode(const HttpRequest& request, HttpResponse* response) {
  IndentIfAsked(request, response);
  neptune::EncodeContent(request.headers, neptune::ContentCodingOptions(), response);
}

bool IsSearch(const HttpRequest& request) {
  return request.path == kSearchPath && (request.method == "GET" || request.method == "HEAD");
}

}  // namespace

HttpGateway::HttpGateway(SearchPlan& plan, const neptune::ModuleContext& context,
                         const GatewayMetrics& metrics, const GatewayOptions& options)
    : metrics_(metrics),
      options_(options),
      classes_(
          context.scheduling, context.class_of_api_key_hash,
          {.trusts_header = options.trusts_class_header, .requires_key = options.requires_key}),
      access_(options.access),
      world_(context.world),
      address_(options),
      readiness_(context.client, plan.options(), options.meeting_timeout),
      traces_(options.keeps_queries),
      rate_limit_(options.rate_limit),
      reloads_(options.reload_share_max),
      search_routes_({.plan = plan,
                      .world = context.world,
                      .metrics = metrics_,
                      .classes = classes_,
                      .access = access_,
                      .address = address_,
                      .readiness = readiness_,
                      .traces = traces_,
                      .trusts_forwarded = options_.trusts_forwarded},
                     options.sampled_share),
      pages_({.plan = plan,
              .world = context.world,
              .metrics = metrics_,
              .classes = classes_,
              .access = access_,
              .traces = traces_,
              .rate_limit = rate_limit_},
             {.pages = {.hash_seed = neptune::Loop::Current()->random().Next()},
              .seen = {.hash_seed = neptune::Loop::Current()->random().Next()},
              .has_fixed_address = options.has_fixed_address,
              .trusts_forwarded = options.trusts_forwarded,
              .sampled_share = options.sampled_share},
             options.page_cache_mb << 20, ServingLoops(context.client)),
      operator_routes_(context, {.access = access_,
                                 .metrics = metrics_,
                                 .address = address_,
                                 .readiness = readiness_,
                                 .traces = traces_}) {
  AddPageRoutes(address_, &router_);
  AddStatusRoutes({.access = access_,
                   .metrics = metrics_,
                   .readiness = readiness_,
                   .registry = context.metrics},
                  &router_);
  search_routes_.AddTo(&router_);
  operator_routes_.AddTo(&router_);
}

void HttpGateway::AddDocumentRoutes(DocumentWriter& writer, HtmlThreads& html_threads) {
  const DocumentRoutes routes(writer, html_threads, options_.document_write_timeout);
  const auto handler = [this, routes](ChangeHandler handle) -> neptune::HttpHandler {
    return [this, routes, handle](const HttpRequest& request) {
      return Change(routes, handle, request);
    };
  };
  neptune::HttpRouteOptions options;
  options.check = [this](const HttpRequest& head) { return RefuseChange(head); };
  router_.AddPrefix("DELETE", kDocumentsPrefix, handler(&DocumentRoutes::Delete), options);
  router_.Add("DELETE", kDocumentsPath, handler(&DocumentRoutes::DeleteUrl), options);
  options.body_size_max = kBulkSizeMax;
  router_.Add("POST", kDocumentsPath, handler(&DocumentRoutes::Post), options);
}

neptune::HttpBodyPermit HttpGateway::AtHeader(HttpRequest* head) {
  neptune::HttpBodyPermit permit;
  permit.refusal = RefuseForRate(*head);
  if (!permit.refusal) permit = router_.AtHeader(head);
  if (permit.refusal) AddHeaders(&*permit.refusal);
  return permit;
}

std::optional<HttpResponse> HttpGateway::RefuseChange(const HttpRequest& request) const {
  if (std::optional<HttpResponse> refusal = access_.RefuseChange(request)) {
    metrics_.change_access_refused->Increment();
    return refusal;
  }
  // A key or header that may not search may not write either.
  const neptune::StatusOr<ClientClass> client = classes_.Of(request);
  if (client.ok()) return std::nullopt;
  return neptune::ProblemResponse(client.status());
}

HttpResponse HttpGateway::Change(const DocumentRoutes& routes, ChangeHandler handle,
                                 const HttpRequest& request) {
  ChangedDocuments changed;
  HttpResponse response = (routes.*handle)(request, &changed);
  if (!changed.written.empty() || changed.failed_count > 0) {
    Audit(request, response.status, changed);
  }
  return response;
}

void HttpGateway::Audit(const HttpRequest& request, int status, const ChangedDocuments& changed) {
  if (audit_ == nullptr) return;
  const neptune::StatusOr<ClientClass> client = classes_.Of(request);
  const std::string address = neptune::Endpoint{request.peer.address, 0}.ToString();
  const std::string_view forwarded =
      options_.trusts_forwarded ? request.headers.Get("X-Forwarded-For") : std::string_view();
  audit_->Add(AuditLine(DocumentAudit{
      .at = world_.wall_time(),
      .method = request.method,
      .address = std::string_view(address).substr(0, address.find(':')),
      .forwarded_for = forwarded,
      .right = access_.WayOfChanges(),
      .service_class = client.ok() ? std::string_view(client->name) : std::string_view(),
      .status = status,
      .changed = changed}));
}

bool HttpGateway::IsReloadTooMany(const HttpRequest& request) {
  if (!WantsFreshAnswer(request) || access_.IsOperator(AccessAskOf(request))) return false;
  if (request.path != kSearchPath && request.path != kSuggestPath) return false;
  const uint64_t misses = metrics_.cache_misses == nullptr ? 0 : metrics_.cache_misses->value();
  if (reloads_.Take(misses, request.received)) return false;
  metrics_.reloads_limited->Increment();
  return true;
}

void HttpGateway::AddHeaders(HttpResponse* response) const {
  response->headers.Set("Cross-Origin-Resource-Policy", "same-origin");
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(options_.strict_transport).count();
  if (!options_.is_https || seconds == 0) return;
  response->headers.Set("Strict-Transport-Security", neptune::StrCat("max-age=", seconds));
}

std::optional<HttpResponse> HttpGateway::RefuseForRate(const HttpRequest& request) {
  if (!rate_limit_.limits() || !IsLimited(request.path)) return std::nullopt;
  const bool has_known_key = request.headers.Has("X-Api-Key") && classes_.Of(request).ok();
  const std::optional<neptune::Duration> wait = rate_limit_.Refuse(
      ClientOf(request, has_known_key, options_.trusts_forwarded), request.received);
  if (!wait) return std::nullopt;
  metrics_.rate_limited->Increment();
  HttpResponse response = neptune::ProblemResponse(
      429, "",
      "this client has exceeded its request rate; the Retry-After header says when to retry");
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(*wait);
  response.headers.Set("Retry-After", neptune::StrCat(std::max<int64_t>(1, seconds.count())));
  return response;
}

HttpResponse HttpGateway::Handle(const HttpRequest& request) {
  std::optional<HttpResponse> refusal;
  if (!request.checked_at_header) refusal = RefuseForRate(request);
  if (refusal) {
    AddHeaders(&*refusal);
    Encode(request, &*refusal);
    return *std::move(refusal);
  }
  if (!IsReloadTooMany(request)) return Route(request);
  HttpRequest without_reload = request;
  without_reload.headers.Set("Cache-Control", "");
  return Route(without_reload);
}

HttpResponse HttpGateway::Route(const HttpRequest& request) {
  if (IsSearch(request)) return Search(request);
  HttpResponse response = WithErrorPage(request, router_.Handle(request));
  AddHeaders(&response);
  Encode(request, &response);
  return response;
}

HttpResponse HttpGateway::Search(const HttpRequest& request) {
  PageFront* const front = pages_.OfThisLoop();
  if (front != nullptr) {
    if (std::optional<HttpResponse> page = front->Find(request)) return *std::move(page);
  }
  std::optional<PageFacts> facts;
  HttpResponse response = search_routes_.Search(request, &facts);
  AddHeaders(&response);
  Encode(request, &response);
  if (front == nullptr || response.status != 200) return response;
  if (facts) {
    front->Keep(request, *std::move(facts), &response);
  } else {
    front->Forget(request);
  }
  return response;
}

HttpResponse HttpGateway::WithErrorPage(const HttpRequest& request, HttpResponse response) const {
  const bool is_routers = response.status == 404 || response.status == 405;
  if (!is_routers || !IsBrowser(request) || FormatOf(request) == PageFormat::kJson ||
      !response.headers.Get("Content-Type").starts_with("application/problem+json")) {
    return response;
  }
  const ErrorAnswer error{
      .http_status = response.status,
      .title = std::string(neptune::HttpReasonPhrase(response.status)),
      .detail = response.status == 404 ? "There is no page at this address." : std::string()};
  HttpResponse page = ToResponse(error, PageFormat::kHtml, address_.Of(request));
  if (response.headers.Has("Allow")) page.headers.Set("Allow", response.headers.Get("Allow"));
  return page;
}

}  // namespace search::frontend
