#include "frontend/http/search_routes.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "frontend/http/http_answers.h"
#include "frontend/http/page_text.h"
#include "frontend/http/rate_limit.h"
#include "frontend/http/trace_choice.h"
#include "frontend/policy/plan_policy.h"
#include "frontend/render/render.h"
#include "frontend/trace/hidden_servers.h"
#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"
#include "neptune/wire/http/problem.h"
#include "neptune/world/loop.h"

namespace search::frontend {
namespace {

using neptune::HttpRequest;
using neptune::HttpResponse;
using neptune::Status;
using neptune::StatusCode;
using neptune::StatusOr;

// Covers a user who types, deletes and types the same text again.
constexpr std::string_view kSuggestionCaching = "public, max-age=60";

// How long a page of a former version of the index is repeated before its question is looked up
// again. Larger: fewer lookups after a switch; results of the new version appear later.
constexpr neptune::Duration kStalePageLife = std::chrono::seconds(1);

SearchOutcome OutcomeOf(const Status& status, bool is_complete) {
  switch (status.code()) {
    case StatusCode::kOk:
      return is_complete ? SearchOutcome::kComplete : SearchOutcome::kPartial;
    case StatusCode::kInvalidArgument:
      return SearchOutcome::kInvalid;
    case StatusCode::kResourceExhausted:
      return SearchOutcome::kOverloaded;
    case StatusCode::kCancelled:
      return SearchOutcome::kGone;
    default:
      return SearchOutcome::kFailed;
  }
}

neptune::Duration TimeSince(const HttpRequest& request) {
  return neptune::this_thread::Now() - request.received;
}

StatusOr<uint64_t> DocumentIdOf(const HttpRequest& request) {
  const std::string_view text =
      std::string_view(request.path).substr(std::string_view(kCachedCopyPrefix).size());
  if (const std::optional<uint64_t> id = ParseWhole<uint64_t>(text)) return *id;
  return neptune::NotFound("a document id is a whole number, for example ", kCachedCopyPrefix,
                           "17");
}

// Browsers get a page unless they ask for JSON, programs a problem.
HttpResponse CachedCopyError(const HttpRequest& request, const Status& status,
                             const std::string& query, const Site& site) {
  ErrorAnswer error = ToError(status, query);
  if (status.code() == StatusCode::kDeadlineExceeded) error.http_status = 503;
  if (error.http_status == 503) error.title = "The document is not available";
  const bool wants_page = IsBrowser(request) && FormatOf(request) != PageFormat::kJson;
  return ToResponse(error, wants_page ? PageFormat::kHtml : PageFormat::kJson, site);
}

}  // namespace

void SearchRoutes::AddTo(neptune::HttpRouter* router) {
  router->Add("GET", kSearchPath, [this](const HttpRequest& request) {
    std::optional<PageFacts> page;
    return Search(request, &page);
  });
  router->Add("GET", kSuggestPath, [this](const HttpRequest& request) { return Suggest(request); });
  router->AddPrefix("GET", kCachedCopyPrefix,
                    [this](const HttpRequest& request) { return CachedCopy(request); });
}

HttpResponse SearchRoutes::Search(const HttpRequest& request,
                                  std::optional<PageFacts>* page) const {
  const StatusOr<SearchPageRequest> search =
      ParseSearchRequest(request.query, request.headers.Get("Accept"));
  if (search.ok() && search->has_query()) return Answer(request, *search, page);
  const Site site = parts_.address.Of(request);
  if (search.ok()) return ToResponse(RenderHomePage(site));
  const PageFormat format = FormatOf(request);
  HttpResponse response = ToResponse(ToError(search.status(), {}), format, site);
  parts_.metrics.Count(format, SearchOutcome::kInvalid, TimeSince(request));
  return response;
}

HttpResponse SearchRoutes::Answer(const HttpRequest& request, const SearchPageRequest& search,
                                  std::optional<PageFacts>* page) const {
  const neptune::TraceContext trace = TraceOf(request);
  Run run = RunPlan(request, search, trace);
  const Site site = parts_.address.Of(request);
  HttpResponse response;
  if (request.ClientGone()) {
    response.status = neptune::HttpStatusOf(StatusCode::kCancelled);  // never sent
  } else if (run.status.ok()) {
    run.answer.with_trace = search.trace;
    if (search.trace && !parts_.access.IsOperator(AccessAskOf(request))) HideServers(&run.answer);
    run.answer.fold = search.fold;
    run.answer.timeout = search.timeout;
    response = ToResponse(RenderAnswer(run.answer, search.format, site));
    // The answer changes over time, and its format depends on the Accept header.
    response.headers.Set("Cache-Control", "no-cache");
    response.headers.Set("Vary", "Accept");
    SetOrigin(run.answer.coverage.cache, &response);
    *page = FactsOf(run.answer, search);
  } else {
    response = ToResponse(ToError(run.status, search.query), search.format, site);
  }
  response.headers.Set("traceparent", neptune::FormatTraceparent(trace));
  if (log_ != nullptr) log_->Add(run.answer, run.service_class, response.status);
  parts_.metrics.Count(search.format, OutcomeOf(run.status, run.answer.coverage.complete()),
                       TimeSince(request));
  return response;
}

// A page is worth repeating once its answer was in the cache. Those with a trace or explanations
// belong to one search.
std::optional<PageFacts> SearchRoutes::FactsOf(const SearchAnswer& answer,
                                               const SearchPageRequest& search) const {
  const CacheUse& cache = answer.coverage.cache;
  if (cache.outcome != CacheUse::Outcome::kHit || search.trace || search.explain) {
    return std::nullopt;
  }
  const neptune::TimePoint now = neptune::this_thread::Now();
  PageFacts facts = {.for_version = answer.index_version,
                     .index_epoch = answer.index_epoch,
                     .computed_at = now - cache.age,
                     .expires_at = now - cache.age + CacheLife(answer, parts_.plan.options()),
                     .result_count = answer.results.size(),
                     .coverage = answer.coverage,
                     .question = search};
  if (cache.newer_version != 0) {
    facts.is_stale = true;
    facts.for_version = cache.newer_version;
    // The answer of the current version may be there by then.
    facts.expires_at = std::min(facts.expires_at, now + kStalePageLife);
  }
  return facts;
}

SearchRoutes::Run SearchRoutes::RunPlan(const HttpRequest& request, const SearchPageRequest& search,
                                        const neptune::TraceContext& trace) const {
  Run run;
  run.answer.query = search.query;
  run.answer.trace_id = neptune::TraceIdText(trace);
  run.answer.answered_at = parts_.world.wall_time();
  StatusOr<ClientClass> client = parts_.classes.Of(request);
  if (!client.ok()) {
    run.status = client.status();
    return run;
  }
  run.service_class = client->name;
  neptune::ClassStatistics& classes = *parts_.metrics.classes;
  classes.OnArrival(client->number);
  parts_.readiness.WaitForMembership();
  const bool shows_details =
      search.format == PageFormat::kHtml || search.format == PageFormat::kJson;
  run.status = parts_.plan.Search(
      {.query = search.query,
       .is_plain = search.is_plain,
       .start = search.start,
       .count = search.count,
       .folds = search.folds(),
       .first_page_size = search.first,
       .may_use_cache = !WantsFreshAnswer(request),
       .explain = search.explain && shows_details,
       .count_sites = search.site_facets && shows_details,
       .by_date = search.by_date,
       .may_correct = search.may_correct,
       .may_relax = search.may_relax,
       .class_number = client->number,
       .service_class = client->name,
       .trace = trace,
       .client = ClientOf(request, request.headers.Has("X-Api-Key"), parts_.trusts_forwarded),
       .received = request.received,
       .timeout = search.timeout,
       .call = request.call},
      &run.answer);
  classes.OnEnd(client->number, run.status);
  if (run.status.ok()) {
    constexpr neptune::Duration kNone{0};
    classes.OnRan(client->number, kNone, run.answer.took, kNone);
  }
  parts_.traces.Keep(run.answer, run.status, client->name, trace.sampled,
                     neptune::this_thread::Now());
  return run;
}

neptune::TraceContext SearchRoutes::TraceOf(const HttpRequest& request) const {
  return ChooseTrace(request.headers.Get("traceparent"), sampled_share_,
                     neptune::Loop::Current()->random(),
                     [&] { return parts_.access.IsOperator(AccessAskOf(request)); });
}

HttpResponse SearchRoutes::Suggest(const HttpRequest& request) const {
  const StatusOr<SearchPageRequest> parsed = ParseSearchRequest(request.query);
  const StatusOr<SuggestedTexts> suggested =
      parsed.ok() ? RunSuggest(request, parsed->query) : parsed.status();
  parts_.metrics.CountSuggestion(
      OutcomeOf(suggested.status(), suggested.ok() && suggested->is_complete), TimeSince(request));
  if (!suggested.ok()) {
    return ToResponse(ToError(suggested.status(), {}), PageFormat::kJson,
                      parts_.address.Of(request));
  }
  HttpResponse response = ToResponse(RenderSuggestions(parsed->query, suggested->texts));
  response.headers.Set("Cache-Control", suggested->is_complete ? kSuggestionCaching : "no-store");
  return response;
}

StatusOr<SuggestedTexts> SearchRoutes::RunSuggest(const HttpRequest& request,
                                                  const std::string& typed) const {
  NEPTUNE_ASSIGN_OR_RETURN(ClientClass client, parts_.classes.Of(request));
  return parts_.plan.Suggest({.typed = typed,
                              .may_use_cache = !WantsFreshAnswer(request),
                              .service_class = std::move(client.name),
                              .call = request.call});
}

HttpResponse SearchRoutes::CachedCopy(const HttpRequest& request) const {
  const Status key = parts_.classes.CheckKey(request);
  const StatusOr<uint64_t> doc_id = key.ok() ? DocumentIdOf(request) : key;
  const std::string query(
      request.Parameter("q").value_or("").substr(0, SearchRequestLimits::kQuerySizeMax));
  const bool is_plain = request.Parameter("syntax") == kPlainSyntax;
  const StatusOr<CachedDocument> document =
      doc_id.ok() ? parts_.plan.FetchDocument(*doc_id, query, is_plain, request.call)
                  : doc_id.status();
  const Site site = parts_.address.Of(request);
  if (!document.ok()) return CachedCopyError(request, document.status(), query, site);
  HttpResponse response = ToResponse(RenderCachedDocument(*document, FormatOf(request), site));
  response.headers.Set("Vary", "Accept");
  return response;
}

}  // namespace search::frontend
