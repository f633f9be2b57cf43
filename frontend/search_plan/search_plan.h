// Answers a search: the query cache, tier 1, tier 2 where tier 1 gave too few, then the documents.
//
//   query ─► parse ─► cache ── hit ──────────────────────────────────────────────► answer
//                       │ miss, slow or gone                                          ▲
//                       └─► gate ─► tier 1 ── enough ──────────────► documents of the page ───┤
//                                    └─ too few ─► tier 2 ─► join ──┘        └─► cache, in the background
//
// Whatever does not answer in time is left out, and the answer says so.
//
// Threads: thread-safe; Search and FetchDocument on user-level threads of the node.
// Errors: INVALID_ARGUMENT "parameter NAME: ..." a query or page that cannot be; RESOURCE_EXHAUSTED
//   too many searches of the class wait, or it would wait too long; UNAVAILABLE no index partition answered.
// Limits: SearchPlanOptions; searches under way as many as the servers bear (admission_gate.h); a search takes no longer
//   than its steps' timeouts together, the wait before the gate among them.

#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "frontend/answer.h"
#include "frontend/search_plan/cache_client.h"
#include "frontend/search_plan/document_client.h"
#include "frontend/search_plan/index_watch.h"
#include "frontend/search_plan/plan_metrics.h"
#include "frontend/search_plan/plan_options.h"
#include "frontend/search_plan/plan_policy.h"
#include "frontend/suggest/suggester.h"
#include "neptune/service/admission_gate.h"
#include "neptune/service/client.h"
#include "neptune/world/world.h"

namespace search::frontend {

struct SearchOrder {
  std::string query;  // as typed
  uint32_t start = 0;
  uint32_t count = 10;
  // False: the answer is computed anew, and then cached.
  bool may_use_cache = true;
  // Of the client: its number among those of the plan, and what the calls on its behalf name.
  neptune::ClassNumber class_number = 0;
  std::string service_class = {};
  // What the search's calls belong to.
  neptune::TraceContext trace = {};
  // When the user's request arrived; `took` counts from here.
  neptune::TimePoint received;
};

class SearchPlan {
 public:
  // `client` and `world` outlive the plan and every search. `scheduling`: which of the searches that wait is first.
  SearchPlan(neptune::Client& client, neptune::World& world, const SearchPlanOptions& options,
             const neptune::SchedulerOptions& scheduling, const PlanMetrics& metrics);

  // `answer` is filled in as far as the search came, also if it failed.
  neptune::Status Search(const SearchOrder& order, SearchAnswer* answer);

  // The stored text of a document. Errors: NOT_FOUND; UNAVAILABLE and DEADLINE_EXCEEDED.
  neptune::StatusOr<CachedDocument> FetchDocument(uint64_t doc_id);

  // Completions of what is being typed. Errors: RESOURCE_EXHAUSTED.
  neptune::StatusOr<SuggestedTexts> Suggest(SuggestOrder order) {
    order.index_version = index_version_.load(std::memory_order_relaxed);
    return suggester_.Suggest(order);
  }

  // Questions that come from now on are asked of that version of the index, by its number, from the cache to the
  // documents; 0: of whichever servers have. Any thread.
  void AskVersion(uint64_t index_version) { index_version_ = index_version; }

  // Waits until no insertion into the cache and no spelling is under way, at most until they have timed
  // out.
  void FinishInserts();

  const SearchPlanOptions& options() const { return options_; }
  const neptune::AdmissionGate& gate() const { return gate_; }

 private:
  struct Progress;

  neptune::Status Run(const SearchOrder& order, SearchAnswer* answer);
  bool AdoptCached(const CacheReply& reply, SearchAnswer* answer);
  bool AnswerFromCache(neptune::ClientSession& session, bool may_use_cache, Progress* progress);
  // What the cache did not know, once there is room for it.
  neptune::Status Compute(neptune::ClientSession& session, const SearchOrder& order,
                          Progress* progress);
  neptune::Status AskTiers(neptune::ClientSession& session, Progress* progress);
  void AddSummaries(neptune::ClientSession& session, Progress* progress);
  void StartSpelling(const neptune::ClientSession& session, Progress* progress);
  void AdoptSpelling(Progress* progress);
  void Remember(const neptune::ClientSession& session, const SearchAnswer& answer,
                const CacheEntryName& entry);
  void CountOutcome(const neptune::Status& status, const SearchAnswer& answer);

  neptune::Client& client_;
  neptune::World& world_;
  const SearchPlanOptions options_;
  const PlanMetrics metrics_;
  CacheClient cache_;
  DocumentClient documents_;
  Suggester suggester_;
  neptune::AdmissionGate gate_;
  std::atomic<size_t> spelling_count_{0};
  IndexWatch index_watch_;
  std::atomic<uint64_t> index_version_{0};
};

}  // namespace search::frontend
