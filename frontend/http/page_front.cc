#include "frontend/http/page_front.h"

#include <algorithm>
#include <utility>

#include "frontend/http/page_text.h"
#include "neptune/world/loop.h"

namespace search::frontend {
namespace {

using neptune::HttpRequest;
using neptune::HttpResponse;
using neptune::TimePoint;

// Repetitions leave at most one trace in this time, besides those that are sampled.
constexpr neptune::Duration kTraceInterval = std::chrono::milliseconds(100);

// True if no page answers the request.
bool GoesPastPages(const PageAsk& ask) {
  return ask.repeats_header || ask.cache_control.find("no-cache") != std::string_view::npos;
}

// The answer as logs and traces show it.
SearchAnswer RepeatedAnswer(const PageFacts& facts, const neptune::TraceContext& trace,
                            TimePoint now) {
  SearchAnswer answer;
  answer.query = facts.question.query;
  answer.trace_id = neptune::TraceIdText(trace);
  answer.coverage = facts.coverage;
  answer.coverage.cache.outcome = CacheUse::Outcome::kHit;
  answer.coverage.cache.age = now - facts.computed_at;
  answer.results.resize(facts.result_count);
  return answer;
}

}  // namespace

PageFront::PageFront(const Parts& parts, const Options& options)
    : parts_(parts), options_(options), pages_(options.pages) {}

std::optional<PageFront::Found> PageFront::Look(const PageAsk& ask, TimePoint now) {
  if (GoesPastPages(ask)) {
    parts_.metrics.page_skipped->Increment();
    return std::nullopt;
  }
  WritePageKey(ask, options_.has_fixed_address, &key_);
  const CachedPage* const page = pages_.Find(key_);
  if (page == nullptr || !parts_.plan.MayRepeat(page->facts, now)) {
    parts_.metrics.page_misses->Increment();
    return std::nullopt;
  }
  neptune::StatusOr<ClientClass> client = parts_.classes.Of(ask.api_key, ask.service_class);
  if (!client.ok()) {
    parts_.metrics.page_skipped->Increment();
    return std::nullopt;
  }
  return Found{.page = page, .client = *std::move(client), .trace = TraceOf(ask), .now = now};
}

neptune::TraceContext PageFront::TraceOf(const PageAsk& ask) {
  if (!ask.traceparent.empty()) {
    const auto given = neptune::ParseTraceparent(ask.traceparent);
    if (given.ok()) return *given;
  }
  neptune::RandomSource& random = neptune::Loop::Current()->random();
  return neptune::NewTrace(random, random.Uniform() < options_.sampled_share);
}

void PageFront::Note(const Found& found, TimePoint received) {
  const PageFacts& facts = found.page->facts;
  const bool is_traced = found.trace.sampled || found.now >= next_trace_at_;
  const neptune::Duration took = found.now - received;
  if (is_traced || log_ != nullptr) {
    SearchAnswer answer = RepeatedAnswer(facts, found.trace, found.now);
    answer.took = took;
    answer.answered_at = parts_.world.wall_time();
    if (log_ != nullptr) log_->Add(answer, found.client.name, 200);
    if (is_traced) {
      next_trace_at_ = found.now + kTraceInterval;
      parts_.traces.Keep(answer, neptune::OkStatus(), found.client.name, found.trace.sampled,
                         found.now);
    }
  }
  if (!is_traced) parts_.traces.Count(took, !facts.coverage.complete());
  Count(found, took);
}

void PageFront::Count(const Found& found, neptune::Duration took) {
  const PageFacts& facts = found.page->facts;
  constexpr neptune::Duration kNone{0};
  neptune::ClassStatistics& classes = *parts_.metrics.classes;
  classes.OnArrival(found.client.number);
  classes.OnEnd(found.client.number, neptune::OkStatus());
  classes.OnRan(found.client.number, kNone, took, kNone);
  (facts.is_stale ? parts_.metrics.page_stale : parts_.metrics.page_hits)->Increment();
  parts_.metrics.Count(
      facts.question.format,
      facts.coverage.complete() ? SearchOutcome::kComplete : SearchOutcome::kPartial, took);
}

std::optional<HttpResponse> PageFront::Find(const HttpRequest& request) {
  const std::optional<Found> found = Look(PageAskOf(request), neptune::Loop::Current()->Now());
  if (!found) return std::nullopt;
  HttpResponse response;
  response.headers = found->page->headers;
  const RepeatedHeaders own = HeadersOfRepetition(found->page->facts, found->now);
  response.headers.Add("Age", own.age);
  response.headers.Add("Cache-Status", own.cache_status);
  response.headers.Add("traceparent", neptune::FormatTraceparent(found->trace));
  response.shared_body = found->page->body;
  Note(*found, request.received);
  return response;
}

void PageFront::Keep(const HttpRequest& request, PageFacts facts, HttpResponse* response) {
  const PageAsk ask = PageAskOf(request);
  if (ask.repeats_header) return;
  WritePageKey(ask, options_.has_fixed_address, &key_);
  CachedPage page;
  page.facts = std::move(facts);
  for (const auto& [name, value] : response->headers) {
    if (!IsOfOneAnswer(name)) page.headers.Add(name, value);
  }
  if (response->shared_body == nullptr) {
    response->shared_body = std::make_shared<const std::string>(std::move(response->body));
    response->body.clear();
  }
  page.body = response->shared_body;
  pages_.Insert(key_, std::move(page));
}

void PageFront::Forget(const HttpRequest& request) {
  const PageAsk ask = PageAskOf(request);
  if (ask.repeats_header) return;
  WritePageKey(ask, options_.has_fixed_address, &key_);
  pages_.Erase(key_);
}

}  // namespace search::frontend
