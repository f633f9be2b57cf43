// Answers a search: query cache, tier 1, tier 2 if it may change the page, then the documents.
//
//   query ─► parse ─► cache ── hit ─────────────────────────────────────────────► answer
//                       │ miss, slow or gone                                        ▲
//                       └─► gate ─► tier 1 ── page is sure ──────► documents of page ──┘
//                                ▲     └─ else ─► tier 2 ─► merge ──┘           └─► cache (async)
//                                │  one search at a time for equal questions; the others wait for it
//                                ├── a doubtful word: once more with another spelling, or offer it
//                                └── nothing found: once more without what is demanded
//
// If the cache hardly ever has such questions, it is asked while the search goes on
// (frontend/policy/lookup_overlap.h); if it then has the answer, the search ends.
//
// Services that do not answer in time are left out, and the answer says so. After a switch to
// another version of the index, an answer that the cache has of the former one is given at once,
// and says so, while that of the new one is computed (SearchPlanOptions::stale_answers).
//
// A search has one deadline, from the arrival of its request on. Each step gets a share of what is
// left (step_budget.h). If the client leaves, the steps in progress end here and on the servers,
// and no further one begins; only the insertion of a complete answer into the cache goes on.
//
// Threads: thread-safe; Search and FetchDocument on user-level threads of the node.
// Errors: INVALID_ARGUMENT "parameter NAME: ..." invalid query or page; RESOURCE_EXHAUSTED too many
//   searches of the class wait, or this one was not admitted in time; UNAVAILABLE no index
//   partition answered; CANCELLED the client is gone.
// Limits: SearchPlanOptions; concurrent searches as many as the servers can take
//   (admission_gate.h); SearchPlanOptions::TimeoutFor from arrival to answer.

#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "frontend/caching/cache_client.h"
#include "frontend/caching/cached_page.h"
#include "frontend/caching/single_flight.h"
#include "frontend/model/answer.h"
#include "frontend/policy/lookup_overlap.h"
#include "frontend/policy/plan_metrics.h"
#include "frontend/policy/plan_options.h"
#include "frontend/policy/plan_policy.h"
#include "frontend/policy/skip_forecast.h"
#include "frontend/search_plan/asked_index.h"
#include "frontend/search_plan/background_searches.h"
#include "frontend/search_plan/document_client.h"
#include "frontend/search_plan/index_watch.h"
#include "frontend/suggest/suggester.h"
#include "neptune/service/admission_gate.h"
#include "neptune/service/client.h"
#include "neptune/world/loop.h"
#include "neptune/world/world.h"

namespace search::frontend {

struct SearchOrder {
  std::string query;  // as typed
  // The query is running text: nothing is an operator.
  bool is_plain = false;
  uint32_t start = 0;
  uint32_t count = 10;
  // Near-duplicates and further results of a site are folded (page_documents.h).
  bool folds = false;
  // SearchAnswer::covered_count of the first page, if the client knows it; 0: unknown.
  uint32_t first_page_size = 0;
  // False: the cache is not consulted; the answer is computed and then cached.
  bool may_use_cache = true;
  // True: says how the score of each result came about. The cache is not consulted, because a
  // cached answer may be older than the explanations.
  bool explain = false;
  // True: counts all matches by site, too, by asking all partitions of both tiers.
  bool count_sites = false;
  // True: the newest documents first. Both tiers are asked.
  bool by_date = false;
  // False: the query is searched for as typed, and no other spelling is looked for.
  bool may_correct = true;
  // False: what the query demands is demanded even if nothing is found.
  bool may_relax = true;
  // The client's service class: its number in the plan, and its name for calls on its behalf.
  neptune::ClassNumber class_number = 0;
  std::string service_class = {};
  // Trace context of the search's calls.
  neptune::TraceContext trace = {};
  // The client, as a number: those of a class take turns while they wait. 0: unknown.
  uint64_t client = 0;
  // When the user's request arrived; `took` and the timeout count from here.
  neptune::TimePoint received;
  // False: an answer of a former version of the index is not given.
  bool may_be_stale = true;
  // Set: searches this index instead of the one that is asked now, to prepare its answers.
  std::optional<AskedIndex> index = std::nullopt;
  // How long the client waits; 0: as long as may be. See SearchPlanOptions::TimeoutFor.
  neptune::Duration timeout{0};
  // Cancelled when the client is gone; null: it never is. Of a search that several clients share,
  // SharedCancellation::call.
  std::shared_ptr<neptune::IncomingCall> call = nullptr;
};

struct QuestionText;
class SpellingLookup;

class SearchPlan {
 public:
  // `client` and `world` outlive the plan and every search. `scheduling` orders the waiting
  // searches.
  SearchPlan(neptune::Client& client, neptune::World& world, const SearchPlanOptions& options,
             const neptune::SchedulerOptions& scheduling, const PlanMetrics& metrics);

  // `answer` is filled in as far as the search proceeded, also on error.
  neptune::Status Search(const SearchOrder& order, SearchAnswer* answer);

  // Makes sure that the cache has the answer for order.index; true: it was there already. Not
  // counted as a search. Errors: as Search; UNAVAILABLE the answer is partial.
  neptune::StatusOr<bool> Prepare(const SearchOrder& order);

  // Fetches the stored text of a document, and the places in it of the words of `query`, which may
  // be running text; of a query that cannot be parsed, none. Errors: NOT_FOUND; UNAVAILABLE and
  // DEADLINE_EXCEEDED.
  // `call`: as SearchOrder.
  neptune::StatusOr<CachedDocument> FetchDocument(
      uint64_t doc_id, const std::string& query, bool is_plain,
      const std::shared_ptr<neptune::IncomingCall>& call = nullptr);

  // Returns completions of the typed text. Errors: RESOURCE_EXHAUSTED.
  neptune::StatusOr<SuggestedTexts> Suggest(SuggestOrder order);

  // Subsequent searches ask this index: each one from its first to its last step. On any loop.
  void AskIndex(AskedIndex index) { asked_.Ask(std::move(index), neptune::Loop::Current()->Now()); }
  // The version that searches ask for; 0: any. Wait-free; any thread.
  uint64_t AskedVersion() const { return asked_.version(); }
  // True if a page with these facts may be repeated without a search. Wait-free; any thread.
  bool MayRepeat(const PageFacts& page, neptune::TimePoint now) const;

  // Waits until all cache insertions, spellings and searches in the background have ended or timed
  // out.
  void FinishInserts();

  const SearchPlanOptions& options() const { return options_; }
  const neptune::AdmissionGate& gate() const { return gate_; }

 private:
  struct Progress;

  // An answer as one search lands it for equal ones.
  struct Landed {
    neptune::Status status;
    SearchAnswer answer;
  };

  neptune::Status Run(const SearchOrder& order, SearchAnswer* answer);
  neptune::Status Interpret(QuestionText question, Progress* progress) const;
  bool AdoptCached(const CacheReply& reply, Progress* progress);
  bool AdoptFound(SearchAnswer found, Progress* progress) const;
  bool AnswerOfFormerIndex(neptune::ClientSession& session, const SearchOrder& order,
                           Progress* progress);
  // Computes the answer in the background, unless that is under way or enough others are.
  void RefreshLater(const SearchOrder& order, const std::string& flight);
  // Computes an answer, or waits for that of an equal question.
  neptune::Status ComputeOnce(neptune::ClientSession& session, const SearchOrder& order,
                              Progress* progress);
  bool AdoptLanded(const SearchAnswer& landed, Progress* progress) const;
  neptune::Status ComputeAndRemember(neptune::ClientSession& session, const SearchOrder& order,
                                     Progress* progress);
  bool AnswerFromCache(neptune::ClientSession& session, bool may_use_cache, Progress* progress);
  bool AdoptReply(neptune::ClientSession& session, CacheReply reply, Progress* progress);
  // REQUIRES: overlap_.Begin was true.
  neptune::Status ComputeMeanwhile(neptune::ClientSession& session, const SearchOrder& order,
                                   Progress* progress);
  // Computes an answer that is not cached, once the search is admitted.
  neptune::Status Compute(neptune::ClientSession& session, const SearchOrder& order,
                          Progress* progress);
  neptune::Status AskServers(neptune::ClientSession& session, const SearchOrder& order,
                             Progress* progress);
  neptune::Status AskTiers(neptune::ClientSession& session, Progress* progress);
  void AddSummaries(neptune::ClientSession& session, Progress* progress);
  void AddSpellingAndSummaries(neptune::ClientSession& session, const SearchOrder& order,
                               Progress* progress);
  void AdoptSpelling(neptune::ClientSession& session, SpellingLookup* lookup, Progress* progress);
  void RelaxDemands(neptune::ClientSession& session, Progress* progress);
  bool SearchInstead(neptune::ClientSession& session, const QuestionText& question,
                     Progress* progress);

  neptune::Client& client_;
  neptune::World& world_;
  const SearchPlanOptions options_;
  const PlanMetrics metrics_;
  CacheClient cache_;
  DocumentClient documents_;
  Suggester suggester_;
  neptune::AdmissionGate gate_;
  LookupOverlap overlap_;
  std::atomic<size_t> spelling_count_{0};
  std::atomic<size_t> lookup_count_{0};  // on threads of their own
  IndexWatch index_watch_;
  SkipForecast forecast_;
  SingleFlight<Landed> flights_;
  BackgroundSearches refreshes_;
  AskedIndexes asked_;
};

}  // namespace search::frontend
