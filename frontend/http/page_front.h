// The front of one serving loop: repeats pages of results that are still valid, without parsing the
// question, and keeps those that are worth repeating.
//
//   request ─► key ─► PageCache ── valid ──► the same bytes again, with Age and a trace of their own
//                        │ else
//                        └─► SearchRoutes ─► page of an answer that was in the query cache ─► Keep
//
//   bytes of a request ─► SeenRequests ─► PageCache ── valid ──► the same answer, the short way
//
// The short way (neptune/wire/http/http_server.h) answers requests whose parts were seen before: it
// makes no request object, no key and no response, takes no user-level thread and, unless the rate
// of clients is limited or searches are logged, no lock. It does what Find does, byte for byte.
//
// A page is kept when its answer was found in the query cache, i.e. when it was asked for a second
// time: a scan of rare questions leaves nothing here, and a page says that it was cached. What it
// says of itself (took_ms, computed_at) is of the time when it was made; what differs is in the
// headers: `Age`, seconds since the answer was computed; `Cache-Status: pages; hit`; `traceparent`.
//
// A page is repeated while the query cache would give its answer: until its life in the cache ends,
// for the version of the index that is asked, within the epochs of IndexWatch. A request that asks
// for a fresh answer, names an unknown class or has no page goes the ordinary way. Repetitions are
// counted, traced and logged like other searches.
//
// Source: RFC 9111 (Age), RFC 9211 (Cache-Status).
// Threads: the serving loop that it was made for; no user-level thread needed. `stats` from any
//   thread.
// Limits: PageCacheOptions, SeenRequestsOptions.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "frontend/caching/page_cache.h"
#include "frontend/caching/page_key.h"
#include "frontend/caching/seen_requests.h"
#include "frontend/http/access_log.h"
#include "frontend/http/access_rules.h"
#include "frontend/http/gateway_metrics.h"
#include "frontend/http/rate_limit.h"
#include "frontend/model/client_class.h"
#include "frontend/search_plan/search_plan.h"
#include "frontend/trace/trace_log.h"
#include "neptune/wire/http/http_message.h"
#include "neptune/wire/http/http_server.h"
#include "neptune/wire/trace_context.h"
#include "neptune/world/world.h"

namespace search::frontend {

class PageFront final : public neptune::HttpShortWay {
 public:
  // What it uses; all of it outlives it.
  struct Parts {
    const SearchPlan& plan;
    neptune::World& world;
    const GatewayMetrics& metrics;
    const ClientClasses& classes;
    const AccessRules& access;
    TraceLog& traces;
    RateLimit& rate_limit;
  };
  struct Options {
    PageCacheOptions pages;
    SeenRequestsOptions seen;
    // See GatewayOptions.
    bool has_fixed_address = false;
    bool trusts_forwarded = false;
    double sampled_share = 0.01;
  };

  PageFront(const Parts& parts, const Options& options);

  // See SearchRoutes::LogTo.
  void LogTo(AccessLog& log) { log_ = &log; }

  bool Answer(const neptune::HttpGlance& request, std::string* out) override;

  // The page again; nullopt: the request goes the ordinary way. The caller has limited the rate.
  std::optional<neptune::HttpResponse> Find(const neptune::HttpRequest& request);
  // Keeps the page that was sent for a request. Its body is shared with the response afterwards.
  void Keep(const neptune::HttpRequest& request, PageFacts facts, neptune::HttpResponse* response);
  // Forgets the page: a newer one was sent for the request.
  void Forget(const neptune::HttpRequest& request);

  const PageCacheStats& stats() const { return pages_.stats(); }
  std::vector<CountedQuestion> TakeHottest(size_t count) { return pages_.TakeHottest(count); }

 private:
  // A page that is repeated.
  struct Repetition {
    const PageFacts& facts;
    const ClientClass& client;
    neptune::TraceContext trace;
    neptune::TimePoint received;
    neptune::TimePoint now;
  };

  // Null: no page may be repeated for the request.
  const CachedPage* ValidPage(const PageAsk& ask, neptune::TimePoint now);
  bool ExceedsRate(const PageAsk& ask, const neptune::HttpGlance& request);
  // See trace_choice.h.
  template <typename Request>
  neptune::TraceContext TraceOf(const PageAsk& ask, const Request& request) const;
  // Counts, traces and logs a repetition.
  void Note(const Repetition& repetition);
  void Count(const Repetition& repetition);

  const Parts parts_;
  const Options options_;
  PageCache pages_;
  SeenRequests seen_;
  AccessLog* log_ = nullptr;
  std::string key_;  // of the request at hand
  neptune::TimePoint next_trace_at_{};
};

}  // namespace search::frontend
