#include "frontend/http/http_gateway.h"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/api/api_document.h"
#include "neptune/admin/admin_pages.h"
#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/http/problem.h"
#include "neptune/wire/trace_context.h"

namespace search::frontend {
namespace {

using neptune::HttpRequest;
using neptune::HttpResponse;
using neptune::Status;
using neptune::StatusCode;
using neptune::StatusOr;
using neptune::StrCat;

constexpr std::string_view kDocumentPrefix = "/doc/";
constexpr uint32_t kRetryAfterSeconds = 1;
constexpr uint32_t kRefreshMaxS = 3600;
constexpr size_t kConsoleSearchCount = 10;
// Covers a user who types, deletes and types the same text again.
constexpr std::string_view kSuggestionCaching = "public, max-age=60";

constexpr std::string_view kRobots =
    "User-agent: *\n"
    "Disallow: /search\n"
    "Disallow: /doc/\n";

HttpResponse ToResponse(RenderedPage page) {
  HttpResponse response;
  response.status = page.http_status;
  response.headers.Set("Content-Type", page.content_type);
  response.headers.Set("Content-Security-Policy", ContentSecurityPolicy());
  response.body = std::move(page.body);
  return response;
}

HttpResponse ToResponse(const ErrorAnswer& error, PageFormat format, const Site& site) {
  HttpResponse response = ToResponse(RenderError(error, format, site));
  response.headers.Set("Cache-Control", "no-store");
  if (error.retry_after_s > 0) response.headers.Set("Retry-After", StrCat(error.retry_after_s));
  return response;
}

ErrorAnswer ToError(const Status& status, std::string_view query) {
  ErrorAnswer error{.http_status = neptune::HttpStatusOf(status.code()),
                    .detail = std::string(neptune::ToStd(status.message())),
                    .parameter = std::string(ParameterOf(status)),
                    .query = std::string(query)};
  error.title = neptune::HttpReasonPhrase(error.http_status);
  if (status.code() == StatusCode::kResourceExhausted) error.title = "Too many requests at once";
  if (status.code() == StatusCode::kUnavailable) error.title = "The search is not available";
  if (error.http_status == 503 || error.http_status == 504) {
    error.retry_after_s = kRetryAfterSeconds;
  }
  return error;
}

SearchOutcome OutcomeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
      return SearchOutcome::kInvalid;
    case StatusCode::kResourceExhausted:
      return SearchOutcome::kOverloaded;
    default:
      return SearchOutcome::kFailed;
  }
}

bool IsBrowser(const HttpRequest& request) {
  return request.headers.Get("Accept").find("text/html") != std::string_view::npos;
}

// True if the client asks for a reload that bypasses caches (RFC 9111 5.2.1.4).
bool WantsFreshAnswer(const HttpRequest& request) {
  return request.headers.Get("Cache-Control").find("no-cache") != std::string_view::npos;
}

// Parses a decimal number without a sign.
template <std::unsigned_integral Number>
std::optional<Number> ParseWhole(std::string_view text) {
  Number number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

HttpGateway::HttpGateway(SearchPlan& plan, const neptune::ModuleContext& context,
                         const GatewayMetrics& metrics, const GatewayOptions& options)
    : plan_(plan),
      client_(context.client),
      world_(context.world),
      registry_(context.metrics),
      sections_(context.status),
      node_name_(context.node.value()),
      started_(neptune::this_thread::Now()),
      metrics_(metrics),
      options_(options),
      classes_(context.scheduling, context.class_of_api_key, options.trusts_class_header),
      operators_(options.operators),
      traces_(options.keeps_queries),
      statuses_(client_, world_),
      rate_limit_(options.rate_limit) {
  AddPages();
  AddStaticFiles();
  AddStatusRoutes();
}

void HttpGateway::AddPages() {
  const auto add = [this](std::string_view path, Page page) {
    router_.Add("GET", path, [this, page](const HttpRequest& request) {
      return ToResponse(page(SiteOf(request)));
    });
  };
  add("/", RenderHomePage);
  add("/help", RenderHelpPage);
  add("/opensearch.xml", RenderOpenSearchDescription);
  router_.Add("GET", "/search", [this](const HttpRequest& request) { return Search(request); });
  router_.Add("GET", "/suggest", [this](const HttpRequest& request) { return Suggest(request); });
  router_.AddPrefix("GET", kDocumentPrefix,
                    [this](const HttpRequest& request) { return Document(request); });
}

void HttpGateway::AddStaticFiles() {
  const auto add = [this](std::string_view path, const StaticFile& file, std::string_view caching) {
    router_.Add("GET", path, [file, caching](const HttpRequest&) {
      HttpResponse response;
      response.headers.Set("Content-Type", file.content_type);
      response.headers.Set("Cache-Control", caching);
      response.headers.Set("Content-Security-Policy", ContentSecurityPolicy());
      response.body = file.body;
      return response;
    });
  };
  add("/openapi.json", ApiDocument(), "public, max-age=3600");
  for (const StaticFile& file : StaticFiles()) {
    add(file.path, file, "public, max-age=31536000, immutable");
    if (file.content_type.starts_with("image/")) add("/favicon.ico", file, "public, max-age=86400");
  }
}

void HttpGateway::AddStatusRoutes() {
  router_.Add("GET", "/healthz",
              [](const HttpRequest&) { return HttpResponse::Text(200, "ok\n"); });
  router_.Add("GET", "/readyz", [this](const HttpRequest& request) { return Ready(request); });
  router_.Add("GET", "/metrics", [this](const HttpRequest&) {
    HttpResponse response = HttpResponse::Text(200, registry_.Text());
    response.headers.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    return response;
  });
  AddOperatorPage("/console", &HttpGateway::Console);
  AddOperatorPage("/tracez", &HttpGateway::Traces);
  AddOperatorPage("/statusz", &HttpGateway::NodeStatus);
  router_.Add("GET", "/robots.txt",
              [](const HttpRequest&) { return HttpResponse::Text(200, std::string(kRobots)); });
}

void HttpGateway::AddOperatorPage(std::string_view path,
                                  HttpResponse (HttpGateway::*show)(const HttpRequest&) const) {
  router_.Add("GET", path, [this, show](const HttpRequest& request) {
    if (std::optional<HttpResponse> refusal = operators_.Refuse(request)) return *refusal;
    return (this->*show)(request);
  });
}

void HttpGateway::AddDocumentRoutes(DocumentWriter& writer, HtmlThreads& html_threads) {
  const auto add = [this,
                    routes = DocumentRoutes(writer, html_threads, options_.document_write_timeout)](
                       auto handle) -> neptune::HttpHandler {
    return [this, routes, handle](const HttpRequest& request) {
      // A key or header that may not search may not write either.
      const StatusOr<ClientClass> client = classes_.Of(request);
      return client.ok() ? (routes.*handle)(request) : neptune::ProblemResponse(client.status());
    };
  };
  router_.Add("POST", kDocumentsPath, add(&DocumentRoutes::Post));
  router_.AddPrefix("DELETE", kDocumentsPrefix, add(&DocumentRoutes::Delete));
  router_.Add("DELETE", kDocumentsPath, add(&DocumentRoutes::DeleteUrl));
}

// Health checks, metrics and static files are not limited.
bool HttpGateway::IsLimited(std::string_view path) {
  return path == "/search" || path == "/suggest" || path.starts_with(kDocumentPrefix) ||
         path.starts_with(kDocumentsPath);
}

std::optional<HttpResponse> HttpGateway::RefuseForRate(const HttpRequest& request) const {
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
  response.headers.Set("Retry-After", StrCat(std::max<int64_t>(1, seconds.count())));
  return response;
}

HttpResponse HttpGateway::Handle(const HttpRequest& request) const {
  if (std::optional<HttpResponse> refusal = RefuseForRate(request)) return *std::move(refusal);
  HttpResponse response = router_.Handle(request);
  const bool is_routers = response.status == 404 || response.status == 405;
  const bool wants_json =
      PreferredFormat(request.query, request.headers.Get("Accept")) == PageFormat::kJson;
  if (!is_routers || !IsBrowser(request) || wants_json ||
      !response.headers.Get("Content-Type").starts_with("application/problem+json")) {
    return response;
  }
  const ErrorAnswer error{
      .http_status = response.status,
      .title = std::string(neptune::HttpReasonPhrase(response.status)),
      .detail = response.status == 404 ? "There is no page at this address." : std::string()};
  HttpResponse page = ToResponse(error, PageFormat::kHtml, SiteOf(request));
  if (response.headers.Has("Allow")) page.headers.Set("Allow", response.headers.Get("Allow"));
  return page;
}

HttpResponse HttpGateway::Search(const HttpRequest& request) const {
  const std::string_view accept = request.headers.Get("Accept");
  PageFormat format = PreferredFormat(request.query, accept);
  SearchOutcome outcome = SearchOutcome::kInvalid;
  HttpResponse response;
  const StatusOr<SearchPageRequest> search = ParseSearchRequest(request.query, accept);
  if (!search.ok()) {
    response = ToResponse(ToError(search.status(), {}), format, SiteOf(request));
  } else if (!search->has_query()) {
    return ToResponse(RenderHomePage(SiteOf(request)));
  } else {
    format = search->format;
    response = RunSearch(request, *search, &outcome);
  }
  metrics_.Count(format, outcome, neptune::this_thread::Now() - request.received);
  return response;
}

// Continues the caller's trace. A request without a trace, or with a malformed one, starts its own.
neptune::TraceContext HttpGateway::TraceOf(const HttpRequest& request) const {
  const auto given = neptune::ParseTraceparent(request.headers.Get("traceparent"));
  if (given.ok()) return *given;
  neptune::RandomSource& random = neptune::Loop::Current()->random();
  return neptune::NewTrace(random, random.Uniform() < options_.sampled_share);
}

Status HttpGateway::RunPlan(const HttpRequest& request, const SearchPageRequest& search,
                            const neptune::TraceContext& trace, SearchAnswer* answer,
                            std::string* service_class) const {
  NEPTUNE_ASSIGN_OR_RETURN(const ClientClass client, classes_.Of(request));
  *service_class = client.name;
  metrics_.classes->OnArrival(client.number);
  WaitForMembership();
  const Status status = plan_.Search({.query = search.query,
                                      .start = search.start,
                                      .count = search.count,
                                      .may_use_cache = !WantsFreshAnswer(request),
                                      .class_number = client.number,
                                      .service_class = client.name,
                                      .trace = trace,
                                      .received = request.received},
                                     answer);
  metrics_.classes->OnEnd(client.number, status);
  if (status.ok()) {
    metrics_.classes->OnRan(client.number, neptune::Duration(0), answer->took,
                            neptune::Duration(0));
  }
  traces_.Keep(*answer, status, client.name, trace.sampled, neptune::this_thread::Now());
  return status;
}

HttpResponse HttpGateway::RunSearch(const HttpRequest& request, const SearchPageRequest& search,
                                    SearchOutcome* outcome) const {
  const neptune::TraceContext trace = TraceOf(request);
  SearchAnswer answer;
  answer.query = search.query;
  answer.trace_id = neptune::TraceIdText(trace);
  answer.answered_at = world_.wall_time();
  std::string service_class;
  const Status status = RunPlan(request, search, trace, &answer, &service_class);
  HttpResponse response;
  if (status.ok()) {
    *outcome = answer.coverage.complete() ? SearchOutcome::kComplete : SearchOutcome::kPartial;
    answer.with_trace = search.trace;
    response = ToResponse(RenderAnswer(answer, search.format, SiteOf(request)));
    // The answer changes over time, and its format depends on the Accept header.
    response.headers.Set("Cache-Control", "no-cache");
    response.headers.Set("Vary", "Accept");
  } else {
    *outcome = OutcomeOf(status);
    response = ToResponse(ToError(status, search.query), search.format, SiteOf(request));
  }
  response.headers.Set("traceparent", neptune::FormatTraceparent(trace));
  if (log_ != nullptr) log_->Add(answer, service_class, response.status);
  return response;
}

HttpResponse HttpGateway::Suggest(const HttpRequest& request) const {
  std::string typed;
  const StatusOr<SuggestedTexts> suggested = RunSuggest(request, &typed);
  const SearchOutcome outcome = !suggested.ok()          ? OutcomeOf(suggested.status())
                                : suggested->is_complete ? SearchOutcome::kComplete
                                                         : SearchOutcome::kPartial;
  metrics_.CountSuggestion(outcome, neptune::this_thread::Now() - request.received);
  if (!suggested.ok()) {
    return ToResponse(ToError(suggested.status(), {}), PageFormat::kJson, SiteOf(request));
  }
  HttpResponse response = ToResponse(RenderSuggestions(typed, suggested->texts));
  response.headers.Set("Cache-Control", suggested->is_complete ? kSuggestionCaching : "no-store");
  return response;
}

StatusOr<SuggestedTexts> HttpGateway::RunSuggest(const HttpRequest& request,
                                                 std::string* typed) const {
  NEPTUNE_ASSIGN_OR_RETURN(const SearchPageRequest parsed, ParseSearchRequest(request.query));
  *typed = parsed.query;
  NEPTUNE_ASSIGN_OR_RETURN(ClientClass client, classes_.Of(request));
  return plan_.Suggest({.typed = parsed.query,
                        .may_use_cache = !WantsFreshAnswer(request),
                        .service_class = std::move(client.name)});
}

HttpResponse HttpGateway::Document(const HttpRequest& request) const {
  const PageFormat format = PreferredFormat(request.query, request.headers.Get("Accept"));
  const std::optional<uint64_t> doc_id =
      ParseWhole<uint64_t>(std::string_view(request.path).substr(kDocumentPrefix.size()));
  StatusOr<CachedDocument> document =
      doc_id ? plan_.FetchDocument(*doc_id)
             : neptune::NotFound("a document id is a whole number, for example ", kDocumentPrefix,
                                 "17");
  const std::string query(
      request.Parameter("q").value_or("").substr(0, SearchRequestLimits::kQuerySizeMax));
  if (!document.ok()) {
    ErrorAnswer error = ToError(document.status(), query);
    if (document.status().code() == StatusCode::kDeadlineExceeded) error.http_status = 503;
    if (error.http_status == 503) error.title = "The document is not available";
    return ToResponse(
        error,
        IsBrowser(request) && format != PageFormat::kJson ? PageFormat::kHtml : PageFormat::kJson,
        SiteOf(request));
  }
  document->query = query;
  HttpResponse response = ToResponse(RenderCachedDocument(*document, format, SiteOf(request)));
  response.headers.Set("Vary", "Accept");
  return response;
}

Readiness HttpGateway::CurrentReadiness() const {
  return ComputeReadiness(*client_.View(), plan_.options());
}

// Other nodes' announcements arrive shortly after start-up, so wait before answering.
void HttpGateway::WaitForMembership() const {
  constexpr neptune::Duration kLookAgain = std::chrono::milliseconds(5);
  if (has_met_.load(std::memory_order_relaxed)) return;
  const neptune::TimePoint end = started_ + options_.meeting_timeout;
  while (neptune::this_thread::Now() < end && !CurrentReadiness().complete) {
    if (neptune::this_thread::SleepFor(kLookAgain) == neptune::ParkResult::kStopping) return;
  }
  has_met_ = true;
}

HttpResponse HttpGateway::Ready(const HttpRequest& request) const {
  const Readiness readiness = CurrentReadiness();
  const bool wants_complete = request.Parameter("complete") == "1";
  const bool is_ready = !draining_ && (wants_complete ? readiness.complete : readiness.ready);
  HttpResponse response = HttpResponse::Json(is_ready ? 200 : 503, readiness.Json());
  response.headers.Set("Cache-Control", "no-store");
  if (!is_ready) response.headers.Set("Retry-After", StrCat(kRetryAfterSeconds));
  return response;
}

HttpResponse HttpGateway::Console(const HttpRequest& request) const {
  uint32_t refresh_s = 0;
  if (const auto given = request.Parameter("refresh")) {
    refresh_s = ParseWhole<uint32_t>(*given).value_or(UINT32_MAX);
    if (refresh_s > kRefreshMaxS) {
      return neptune::ProblemResponse(
          neptune::InvalidArgument("parameter refresh: must be a number of seconds from 0 to ",
                                   kRefreshMaxS, ", not '", *given, "'"));
    }
  }
  const PageFormat format = PreferredFormat(request.query, request.headers.Get("Accept"));
  HttpResponse response = ToResponse(RenderConsole(
      *statuses_.State(), traces_.Latest(kConsoleSearchCount), refresh_s, format, SiteOf(request)));
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

// Renders the list of kept traces, or the one that the parameter `id` names.
HttpResponse HttpGateway::Traces(const HttpRequest& request) const {
  const PageFormat format = PreferredFormat(request.query, request.headers.Get("Accept"));
  const auto id = request.Parameter("id");
  HttpResponse response;
  if (!id.has_value()) {
    response = ToResponse(RenderTraceList(traces_.Snapshot(), format, SiteOf(request)));
  } else if (const TraceLog::Kept trace = traces_.Find(*id)) {
    response = ToResponse(RenderTrace(*trace, format, SiteOf(request)));
  } else {
    response = ToResponse(
        ToError(neptune::NotFound("no trace with this id is kept; it may have been dropped"), {}),
        format, SiteOf(request));
  }
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

HttpResponse HttpGateway::NodeStatus(const HttpRequest& request) const {
  neptune::AdminPageHeader header;
  header.node_name = node_name_;
  header.now = world_.wall_time();
  header.uptime = neptune::this_thread::Now() - started_;
  if (draining_) header.not_ready_reasons.push_back("the node is stopping");
  if (!CurrentReadiness().ready)
    header.not_ready_reasons.push_back("no index partition has a live replica");
  const std::vector<neptune::StatusReport> reports = sections_.Render();
  HttpResponse response =
      PreferredFormat(request.query, request.headers.Get("Accept")) == PageFormat::kJson
          ? HttpResponse::Json(200, RenderStatusJson(header, reports))
          : HttpResponse::Html(200, RenderStatusHtml(header, reports));
  response.headers.Set("Cache-Control", "no-store");
  response.headers.Set("Content-Security-Policy", neptune::AdminContentSecurityPolicy());
  return response;
}

Site HttpGateway::SiteOf(const HttpRequest& request) const {
  Site site = options_.site;
  if (options_.has_fixed_address) return site;
  site.base_url = BaseUrlFromHost(options_.is_https ? "https" : "http", request.headers.Get("Host"),
                                  site.base_url);
  return site;
}

}  // namespace search::frontend
