// Answers a search: query cache, tier 1, tier 2 if it may change the page, then the documents.
//
//   query ─► parse ─► cache ── hit ─────────────────────────────────────────────► answer
//                       │ miss, slow or gone                                        ▲
//                       └─► gate ─► tier 1 ── page is sure ──────► documents of page ──┘
//                                ▲     └─ else ─► tier 2 ─► merge ──┘           └─► cache (async)
//                                ├── a doubtful word: once more with another spelling, or offer it
//                                └── nothing found: once more without what is demanded
//
// Services that do not answer in time are left out, and the answer says so.
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
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "frontend/caching/cache_client.h"
#include "frontend/model/answer.h"
#include "frontend/policy/plan_metrics.h"
#include "frontend/policy/plan_options.h"
#include "frontend/policy/plan_policy.h"
#include "frontend/policy/skip_forecast.h"
#include "frontend/search_plan/document_client.h"
#include "frontend/search_plan/index_watch.h"
#include "frontend/suggest/suggester.h"
#include "index/core/query/synonyms.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/service/admission_gate.h"
#include "neptune/service/client.h"
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
  // How long the client waits; 0: as long as may be. See SearchPlanOptions::TimeoutFor.
  neptune::Duration timeout{0};
  // Cancelled when the client is gone; null: it never is. Of a search that several clients share,
  // SharedCancellation::call.
  std::shared_ptr<neptune::IncomingCall> call = nullptr;
};

// The index that searches are for.
struct AskedIndex {
  // In the cache, the tiers and the document servers; 0: any version that the servers have.
  uint64_t version = 0;
  // Synonyms that are added to the words of a query; null: none.
  std::shared_ptr<const index::SynonymSets> synonyms = nullptr;
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

  // Fetches the stored text of a document, and the places in it of the words of `query`, which may
  // be running text; of a query that cannot be parsed, none. Errors: NOT_FOUND; UNAVAILABLE and
  // DEADLINE_EXCEEDED.
  // `call`: as SearchOrder.
  neptune::StatusOr<CachedDocument> FetchDocument(
      uint64_t doc_id, const std::string& query, bool is_plain,
      const std::shared_ptr<neptune::IncomingCall>& call = nullptr);

  // Returns completions of the typed text. Errors: RESOURCE_EXHAUSTED.
  neptune::StatusOr<SuggestedTexts> Suggest(SuggestOrder order);

  // Subsequent searches ask this index: each one from its first to its last step. Any thread.
  void AskIndex(AskedIndex index) {
    neptune::LeafLock lock(&asked_mutex_);
    asked_ = std::move(index);
  }

  // Waits until all cache insertions and spellings in progress have ended or timed out.
  void FinishInserts();

  const SearchPlanOptions& options() const { return options_; }
  const neptune::AdmissionGate& gate() const { return gate_; }

 private:
  struct Progress;

  AskedIndex AskedNow() const {
    neptune::LeafLock lock(&asked_mutex_);
    return asked_;
  }

  neptune::Status Run(const SearchOrder& order, SearchAnswer* answer);
  neptune::Status Interpret(QuestionText question, Progress* progress) const;
  bool AdoptCached(const CacheReply& reply, Progress* progress);
  // A session whose calls end with the client's and by the deadline of `terms`.
  neptune::ClientSession SessionFor(neptune::RequestTerms terms,
                                    const std::shared_ptr<neptune::IncomingCall>& call) const;
  bool AnswerFromCache(neptune::ClientSession& session, bool may_use_cache, Progress* progress);
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
  SkipForecast forecast_;
  mutable neptune::LeafMutex asked_mutex_;
  AskedIndex asked_ ABSL_GUARDED_BY(asked_mutex_);
};

}  // namespace search::frontend
