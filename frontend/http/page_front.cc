#include "frontend/http/page_front.h"

#include <algorithm>
#include <utility>

#include "frontend/http/page_text.h"
#include "frontend/http/trace_choice.h"
#include "neptune/world/loop.h"

namespace search::frontend {
namespace {

using neptune::HttpRequest;
using neptune::HttpResponse;
using neptune::TimePoint;

// Repetitions leave at most one trace in this time, besides those that are sampled.
constexpr neptune::Duration kTraceInterval = std::chrono::milliseconds(100);

// Room for the headers that differ between repetitions.
constexpr size_t kOwnHeadersSize = 160;

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
    : parts_(parts), options_(options), pages_(options.pages), seen_(options.seen) {}

const CachedPage* PageFront::ValidPage(const PageAsk& ask, TimePoint now) {
  if (GoesPastPages(ask)) {
    parts_.metrics.page_skipped->Increment();
    return nullptr;
  }
  WritePageKey(ask, options_.has_fixed_address, &key_);
  const CachedPage* const page = pages_.Find(key_);
  if (page != nullptr && parts_.plan.MayRepeat(page->facts, now)) return page;
  parts_.metrics.page_misses->Increment();
  return nullptr;
}

template <typename Request>
neptune::TraceContext PageFront::TraceOf(const PageAsk& ask, const Request& request) const {
  return ChooseTrace(ask.traceparent, options_.sampled_share, neptune::Loop::Current()->random(),
                     [&] { return parts_.access.IsOperator(AccessAskOf(request)); });
}

void PageFront::Note(const Repetition& repetition) {
  const auto& [facts, client, trace, received, now] = repetition;
  const bool is_traced = trace.sampled || now >= next_trace_at_;
  if (is_traced || log_ != nullptr) {
    SearchAnswer answer = RepeatedAnswer(facts, trace, now);
    answer.took = now - received;
    answer.answered_at = parts_.world.wall_time();
    if (log_ != nullptr) log_->Add(answer, client.name, 200);
    if (is_traced) {
      next_trace_at_ = now + kTraceInterval;
      parts_.traces.Keep(answer, neptune::OkStatus(), client.name, trace.sampled, now);
    }
  }
  if (!is_traced) parts_.traces.Count(now - received, !facts.coverage.complete());
  Count(repetition);
}

void PageFront::Count(const Repetition& repetition) {
  const PageFacts& facts = repetition.facts;
  const neptune::Duration took = repetition.now - repetition.received;
  constexpr neptune::Duration kNone{0};
  neptune::ClassStatistics& classes = *parts_.metrics.classes;
  classes.OnArrival(repetition.client.number);
  classes.OnEnd(repetition.client.number, neptune::OkStatus());
  classes.OnRan(repetition.client.number, kNone, took, kNone);
  (facts.is_stale ? parts_.metrics.page_stale : parts_.metrics.page_hits)->Increment();
  parts_.metrics.Count(
      facts.question.format,
      facts.coverage.complete() ? SearchOutcome::kComplete : SearchOutcome::kPartial, took);
}

std::optional<HttpResponse> PageFront::Find(const HttpRequest& request) {
  const TimePoint now = neptune::Loop::Current()->Now();
  const PageAsk ask = PageAskOf(request);
  const CachedPage* const page = ValidPage(ask, now);
  if (page == nullptr) return std::nullopt;
  neptune::StatusOr<ClientClass> client = parts_.classes.Of(ask.api_key, ask.service_class);
  if (!client.ok()) {
    parts_.metrics.page_skipped->Increment();
    return std::nullopt;
  }
  const neptune::TraceContext trace = TraceOf(ask, request);
  HttpResponse response;
  response.headers = page->headers;
  const RepeatedHeaders own = HeadersOfRepetition(page->facts, now);
  response.headers.Add("Age", own.age);
  response.headers.Add("Cache-Status", own.cache_status);
  response.headers.Add("traceparent", neptune::FormatTraceparent(trace));
  response.shared_body = page->body;
  Note({.facts = page->facts,
        .client = *client,
        .trace = trace,
        .received = request.received,
        .now = now});
  if (seen_.Find(ask) == nullptr) {
    seen_.Remember(ask, {.page = pages_.NameOf(key_), .client = *std::move(client)});
  }
  return response;
}

bool PageFront::Answer(const neptune::HttpGlance& request, std::string* out) {
  const PageAsk ask = PageAskOf(request);
  const SeenRequest* const seen = GoesPastPages(ask) ? nullptr : seen_.Find(ask);
  const CachedPage* const page = seen == nullptr ? nullptr : pages_.Look(seen->page);
  if (page == nullptr || !parts_.plan.MayRepeat(page->facts, request.received)) return false;
  if (ExceedsRate(ask, request)) return false;
  pages_.NoteUse(seen->page);
  const neptune::TraceContext trace = TraceOf(ask, request);
  out->reserve(out->size() + page->head.begin.size() + kOwnHeadersSize + page->head.end.size() +
               page->body->size());
  *out += page->head.begin;
  AppendHeadersOfRepetition(page->facts, request.received, out);
  *out += "traceparent: ";
  neptune::AppendTraceparent(trace, out);
  out->append("\r\n").append(page->head.end);
  if (!request.is_head) *out += *page->body;
  Note({.facts = page->facts,
        .client = seen->client,
        .trace = trace,
        .received = request.received,
        .now = request.received});
  return true;
}

// Asked last: a request that goes the ordinary way is counted there.
bool PageFront::ExceedsRate(const PageAsk& ask, const neptune::HttpGlance& request) {
  if (!parts_.rate_limit.limits()) return false;
  const uint64_t client = ClientOf({.api_key = ask.api_key,
                                    .has_known_key = ask.api_key.data() != nullptr,
                                    .forwarded_for = ask.forwarded_for,
                                    .address = request.peer.address},
                                   options_.trusts_forwarded);
  return parts_.rate_limit.Refuse(client, request.received).has_value();
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
  page.head = neptune::PrepareHead({.headers = page.headers, .body = {}, .shared_body = page.body});
  pages_.Insert(key_, std::move(page));
}

void PageFront::Forget(const HttpRequest& request) {
  const PageAsk ask = PageAskOf(request);
  if (ask.repeats_header) return;
  WritePageKey(ask, options_.has_fixed_address, &key_);
  pages_.Erase(key_);
}

}  // namespace search::frontend
