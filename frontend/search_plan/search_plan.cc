#include "frontend/search_plan/search_plan.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/policy/field_notes.h"
#include "frontend/policy/given_up_words.h"
#include "frontend/policy/site_facets.h"
#include "frontend/policy/site_note.h"
#include "frontend/policy/tier_bound.h"
#include "frontend/search_plan/answer_details.h"
#include "frontend/search_plan/cached_form.h"
#include "frontend/search_plan/two_tiers.h"
#include "index/core/document_fields.h"
#include "index/core/query/query.h"
#include "index/core/query/scoring_words.h"
#include "index/tier/operators.h"
#include "index/tier/tier_service.h"
#include "neptune/base/strings.h"
#include "neptune/thread/synchronization.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using index::TierAnswer;
using neptune::ClientSession;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::TimePoint;

constexpr neptune::Duration kInsertPoll = std::chrono::milliseconds(5);
constexpr size_t kStepCountMax = 9;

// Records the time until the end of the scope.
class StepTimer {
 public:
  explicit StepTimer(neptune::HistogramMetric* metric)
      : metric_(metric), begin_(neptune::this_thread::Now()) {}
  ~StepTimer() { metric_->Record(neptune::this_thread::Now() - begin_); }

 private:
  neptune::HistogramMetric* const metric_;
  const TimePoint begin_;
};

// Appends the scope as a step of the answer.
class Step {
 public:
  Step(std::string_view name, StepKind kind, TimePoint received, SearchAnswer* answer)
      : name_(name),
        kind_(kind),
        received_(received),
        answer_(answer),
        begin_(neptune::this_thread::Now()) {}
  ~Step() {
    answer_->steps.push_back(
        {name_, kind_, begin_ - received_, neptune::this_thread::Now() - received_});
  }

 private:
  const std::string_view name_;
  const StepKind kind_;
  const TimePoint received_;
  SearchAnswer* const answer_;
  const TimePoint begin_;
};

// The score of a hit that is sorted by date is its day.
void ShowDate(float day, SearchResult* result) {
  result->score = std::numeric_limits<double>::quiet_NaN();
  constexpr float kDayEnd = 3'652'060;  // after the year 9999
  if (day >= 1 && day < kDayEnd) result->date = index::FormatDay(static_cast<uint32_t>(day));
}

// Adds the hits of the page as results without summaries; returns their document numbers.
std::vector<uint64_t> SelectPage(const TierAnswer& hits, const PageWindow& page,
                                 SearchAnswer* answer) {
  std::vector<uint64_t> doc_ids;
  const size_t end = std::min<size_t>(hits.hits_size(), page.start + page.count);
  for (size_t i = page.start; i < end; ++i) {
    const index::TierHit& hit = hits.hits(static_cast<int>(i));
    answer->results.push_back({.doc_id = StrCat(hit.doc_id()),
                               .lacked_bits = hit.lacks(),
                               .score = index::FinalScore(hit),
                               .gain = hit.gain(),
                               .has_summary = false});
    doc_ids.push_back(hit.doc_id());
    if (answer->by_date) ShowDate(hit.score(), &answer->results.back());
  }
  return doc_ids;
}

// A total is exact only if every partition of every tier that has matches counted. Partitions
// choose the words of a cut prefix by themselves, so it finds other documents than in one index.
void AdoptTotal(const TierAnswer& hits, bool is_whole, SearchAnswer* answer) {
  answer->total = std::max<uint64_t>(hits.total(), hits.hits_size());
  answer->total_is_exact = hits.total_is_exact() && is_whole && !hits.prefix_is_cut();
  for (const ServiceCoverage& tier : answer->coverage.tiers) {
    if (!tier.complete()) answer->total_is_exact = false;
  }
}

// Adds what depends on the index: filters by site that find nothing, documents without a field, and
// prefixes that were cut. `filters`: those by site, if every document was looked at.
void AdoptIndexNotes(const TierAnswer& hits, const std::vector<std::string>& filters,
                     std::vector<std::string> field_notes, SearchAnswer* answer) {
  if (hits.prefix_is_cut()) {
    answer->index_notes.emplace_back(
        "More words begin as asked with * than are searched for; only the most frequent were.");
  }
  if (answer->coverage.complete() && !filters.empty()) {
    std::string note = SiteNote(filters, hits);
    if (!note.empty()) answer->index_notes.push_back(std::move(note));
  }
  for (std::string& note : field_notes) answer->index_notes.push_back(std::move(note));
  answer->notes.insert(answer->notes.end(), answer->index_notes.begin(), answer->index_notes.end());
}

// Number of documents that speak for the words as typed: none if a wanted word is in no hit.
uint64_t DocumentsFound(const std::vector<index::ScoringWord>& words,
                        const StatusOr<TierAnswer>& hits) {
  return hits.ok() && !SomeWordIsInNoHit(words, *hits) ? hits->total() : 0;
}

void AdoptSummary(docserver::Summary summary, SearchResult* result) {
  if (!summary.found()) return;
  result->has_summary = true;
  result->url = std::move(*summary.mutable_url());
  result->title = std::move(*summary.mutable_title());
  result->site = std::move(*summary.mutable_site());
  for (docserver::SnippetPiece& piece : *summary.mutable_snippet()) {
    result->snippet.push_back({std::move(*piece.mutable_text()), piece.matches_query()});
  }
}

// How the query was understood.
void AdoptReading(const index::Query& query, SearchAnswer* answer) {
  answer->notes = query.notes;
  for (const index::QueryPart& part : query.parts) {
    answer->narrowings.push_back({.is_exclusion = part.kind == index::QueryPart::Kind::kExclusion,
                                  .text = part.text,
                                  .query_without = index::WithoutPart(answer->query, part),
                                  .is_field = part.kind == index::QueryPart::Kind::kField});
  }
}

// Adds what depends on how the question was typed.
void AddLinks(const std::vector<index::ScoringWord>& words, SearchAnswer* answer) {
  NameGivenUpWords(words, answer);
  if (answer->site_facets) LinkSites(answer->query, &*answer->site_facets);
}

neptune::AdmissionOptions GateOptions(const SearchPlanOptions& options,
                                      const neptune::SchedulerOptions& scheduling) {
  neptune::AdmissionOptions gate;
  gate.scheduling = scheduling;
  gate.limit.max = options.search_count_max;
  gate.limit.initial = std::min(gate.limit.initial, gate.limit.max);
  gate.limit.min = std::min(gate.limit.min, gate.limit.max);
  gate.limit.wait_goal = options.server_wait_goal;
  return gate;
}

}  // namespace

// Shared with the thread that looks for another spelling. If it ends after the page was served, it
// inserts the page with the spelling into the cache. All accesses are on one loop, so they never
// race.
struct PendingSpelling {
  TimePoint deadline;
  SpellingResult result;
  neptune::OneShotEvent done;

  bool is_late = false;
  SearchAnswer page;
  CacheEntryName entry;

  uint64_t found_count = 0;  // as in Progress

  void AddTo(SearchAnswer* answer) const {
    answer->did_you_mean = result.Best(found_count);
    answer->spelling_is_complete = result.is_complete;
  }
};

// State of a search in progress.
struct SearchPlan::Progress {
  SearchAnswer* answer = nullptr;
  TimePoint received;
  std::string canonical;
  std::vector<std::string> site_filters;
  std::vector<std::string> fields;
  std::vector<index::ScoringWord> words;
  BoundedQuery bounded;
  PageWindow page;
  CacheEntryName entry;
  // The index version to ask, even if another one becomes current meanwhile; 0: any.
  uint64_t asked_version = 0;
  // Document numbers of the results, and the index version they come from.
  std::vector<uint64_t> doc_ids;
  IndexState index;
  void NameEntryOf(const IndexState& state) {
    entry.index_version = state.version;
    entry.ages = state.epoch != 0;
  }
  // Documents found, by which another spelling is judged.
  uint64_t found_count = 0;
  // Null if another spelling is not looked for.
  std::shared_ptr<PendingSpelling> spelling;
};

SearchPlan::SearchPlan(neptune::Client& client, neptune::World& world,
                       const SearchPlanOptions& options,
                       const neptune::SchedulerOptions& scheduling, const PlanMetrics& metrics)
    : client_(client),
      world_(world),
      options_(options),
      metrics_(metrics),
      cache_(options, metrics),
      documents_(options),
      suggester_(client, options, metrics),
      gate_(GateOptions(options, scheduling)),
      index_watch_(options.index_check_interval) {}

Status SearchPlan::Search(const SearchOrder& order, SearchAnswer* answer) {
  answer->query = order.query;
  answer->start = order.start;
  answer->by_date = order.by_date;
  answer->count = order.count;
  answer->steps.reserve(kStepCountMax);
  answer->steps.push_back(
      {"arrival", StepKind::kQueue, {}, neptune::this_thread::Now() - order.received});
  const Status status = Run(order, answer);
  CountOutcome(status, *answer);
  answer->took = neptune::this_thread::Now() - order.received;
  answer->answered_at = world_.wall_time();
  return status;
}

Status SearchPlan::Run(const SearchOrder& order, SearchAnswer* answer) {
  Progress progress;
  progress.answer = answer;
  progress.received = order.received;
  NEPTUNE_ASSIGN_OR_RETURN(progress.page, ReachablePage(order.start, order.count));
  StatusOr<index::Query> query = index::ParseQuestion(order.query);
  if (!query.ok()) {
    return InvalidArgument("parameter q: ", neptune::ToStd(query.status().message()));
  }
  if (options_.synonyms != nullptr) options_.synonyms->Expand(&*query);
  AdoptReading(*query, answer);
  if (query->empty()) return neptune::OkStatus();
  progress.canonical = index::Canonical(*query);
  progress.site_filters = index::SiteFilters(*query);
  progress.fields = index::FilteredFields(*query);
  progress.words = index::ScoringWords(*query);
  progress.bounded = BoundedQueryOf(*query);
  progress.entry.key = CacheKey(progress.canonical, progress.page,
                                StrCat(order.count_sites ? "s" : "", order.by_date ? "d" : ""));
  const std::optional<IndexState> known = index_watch_.KnownAt(neptune::this_thread::Now());
  if (known.has_value()) progress.NameEntryOf(*known);
  progress.asked_version = index_version_.load(std::memory_order_relaxed);
  if (progress.asked_version != 0) progress.entry.index_version = progress.asked_version;

  ClientSession session(client_);
  session.service_class = order.service_class;
  session.trace = order.trace;
  const bool may_use_cache = order.may_use_cache && !order.explain && known.has_value();
  if (AnswerFromCache(session, may_use_cache, &progress)) {
    AddLinks(progress.words, answer);
    return neptune::OkStatus();
  }
  const TimePoint begin = neptune::this_thread::Now();
  NEPTUNE_RETURN_IF_ERROR(Compute(session, order, &progress));
  progress.NameEntryOf(progress.index);
  AddLinks(progress.words, answer);
  if (answer->coverage.complete()) {
    index_watch_.Learn(progress.index, neptune::this_thread::Now());
  }
  answer->index_epoch = index_watch_.EpochToKeep(progress.index.epoch, begin);
  AdoptSpelling(&progress);
  Remember(session, *answer, progress.entry);
  return neptune::OkStatus();
}

bool SearchPlan::AnswerFromCache(ClientSession& session, bool may_use_cache, Progress* progress) {
  CacheReply reply;
  if (may_use_cache) {
    const Step step("cache", StepKind::kWait, progress->received, progress->answer);
    const StepTimer timer(metrics_.cache_time);
    reply = cache_.Lookup(session, progress->entry);
  }
  // An entry that cannot be parsed or is not valid any more counts as a miss.
  if (reply.use.outcome == CacheUse::Outcome::kHit && !AdoptCached(reply, progress->answer)) {
    reply.use.outcome = CacheUse::Outcome::kMiss;
  }
  progress->answer->coverage.cache = reply.use;
  metrics_.ForLookup(reply.use.outcome).Increment();
  return reply.use.outcome == CacheUse::Outcome::kHit;
}

// Returns false and leaves `answer` unchanged if the cached answer must not be used.
bool SearchPlan::AdoptCached(const CacheReply& reply, SearchAnswer* answer) {
  SearchAnswer cached = *answer;
  if (!FromCachedForm(reply.value, &cached).ok()) return false;
  if (!index_watch_.MayGive(cached.index_epoch, reply.use.age)) return false;
  *answer = std::move(cached);
  return true;
}

Status SearchPlan::Compute(ClientSession& session, const SearchOrder& order, Progress* progress) {
  const TimePoint begin = neptune::this_thread::Now();
  auto pass = [&] {
    const Step step("gate", StepKind::kQueue, order.received, progress->answer);
    return gate_.Admit(order.class_number, order.received,
                       order.received + options_.admission_timeout);
  }();
  if (pass.status().code() == neptune::StatusCode::kDeadlineExceeded) {
    return neptune::ResourceExhausted("the search was not admitted within ",
                                      neptune::ToMillis(options_.admission_timeout), " ms");
  }
  NEPTUNE_RETURN_IF_ERROR(pass.status());
  session.SetWaited(neptune::this_thread::Now() - begin);
  const Status status = AskServers(session, order, progress);
  neptune::RequestEnd how;
  for (const ServiceCoverage& tier : progress->answer->coverage.tiers) {
    how.refused |= tier.refused;
    how.server_wait = std::max(how.server_wait, tier.server_wait);
    how.server_run = std::max(how.server_run, tier.server_run);
  }
  pass->End(how);
  return status;
}

Status SearchPlan::AskServers(ClientSession& session, const SearchOrder& order,
                              Progress* progress) {
  const DetailQuestion details = {progress->canonical, progress->asked_version};
  std::optional<SiteCounting> sites;
  if (order.count_sites) sites = SiteCounting::Start(session, details, options_);
  NEPTUNE_RETURN_IF_ERROR(AskTiers(session, progress));
  AddSummaries(session, progress);
  if (sites.has_value()) {
    const Step step("sites", StepKind::kWait, order.received, progress->answer);
    progress->answer->site_facets = sites->Await();
  }
  if (order.explain) {
    const Step step("explanations", StepKind::kWait, order.received, progress->answer);
    ExplainResults(session, details, progress->doc_ids, progress->words, options_,
                   progress->answer);
  }
  return neptune::OkStatus();
}

Status SearchPlan::AskTiers(ClientSession& session, Progress* progress) {
  SearchAnswer& answer = *progress->answer;
  TierQuestion question = {.query = MakeTierQuery(progress->canonical, progress->page, options_),
                           .page = progress->page,
                           .bounded = progress->bounded,
                           .received = progress->received};
  question.query.set_index_version(progress->asked_version);
  if (answer.by_date) {
    question.query.set_order_by_date(true);
    question.query.set_second_phase_count(0);
    question.bounded.is_bounded = false;
  }
  const auto on_tier1 = [&](const StatusOr<TierAnswer>& hits) {
    if (NeedsSpelling(answer, DocumentsFound(progress->words, hits), options_)) {
      StartSpelling(session, progress);
    }
  };
  TwoTiersAnswer found =
      TwoTiers(options_, metrics_, &forecast_).Ask(session, question, on_tier1, &answer);
  const StatusOr<TierAnswer>& hits = found.hits;
  if (hits.status().code() == neptune::StatusCode::kInvalidArgument) {
    return InvalidArgument("parameter q: ", neptune::ToStd(hits.status().message()));
  }
  if (!hits.ok()) return NothingAnswered(answer.coverage);
  if (progress->asked_version != 0 && hits->index_version() != progress->asked_version) {
    return neptune::Internal("index servers answered for version ", hits->index_version(),
                             ", expected ", progress->asked_version);
  }
  progress->doc_ids = SelectPage(*hits, progress->page, &answer);
  progress->found_count = DocumentsFound(progress->words, hits);
  AdoptTotal(*hits, found.is_whole, &answer);
  const bool is_sure = answer.coverage.complete() && !hits->prefix_is_cut();
  answer.coverage.sure_share = is_sure ? found.sure_share : 0;
  AdoptIndexNotes(
      *hits, found.saw_all_sites ? progress->site_filters : std::vector<std::string>(),
      FieldNotes(progress->fields, *hits, found.saw_all_sites && answer.coverage.complete()),
      &answer);
  progress->index = {.version = hits->index_version(), .epoch = found.tier1_epoch};
  answer.index_version = hits->index_version();
  return neptune::OkStatus();
}

void SearchPlan::AddSummaries(ClientSession& session, Progress* progress) {
  if (progress->doc_ids.empty()) return;
  const Step step("documents", StepKind::kWait, progress->received, progress->answer);
  const StepTimer timer(metrics_.document_time);
  FetchedDocuments fetched = documents_.FetchSummaries(
      session, {progress->doc_ids, progress->canonical, progress->asked_version});
  SearchAnswer& answer = *progress->answer;
  for (size_t i = 0; i < answer.results.size(); ++i) {
    AdoptSummary(std::move(fetched.summaries[i]), &answer.results[i]);
  }
  answer.coverage.documents = std::move(fetched.coverage);
}

// Looks for another spelling while tier 2 searches and summaries are fetched.
void SearchPlan::StartSpelling(const ClientSession& session, Progress* progress) {
  auto spelling = std::make_shared<PendingSpelling>();
  spelling->deadline = neptune::this_thread::Now() + options_.spelling_timeout;
  ++spelling_count_;
  const auto started = neptune::ThreadScheduler::Current()->Spawn(
      [this, spelling, session, query = progress->answer->query,
       version = progress->asked_version] {
        {
          const StepTimer timer(metrics_.spelling_time);
          spelling->result = suggester_.Spell(session, {query, version, spelling->deadline});
        }
        spelling->done.Set();
        if (spelling->is_late) {
          spelling->AddTo(&spelling->page);
          Remember(session, spelling->page, spelling->entry);
        }
        --spelling_count_;
      },
      "spelling");
  if (started.ok()) {
    progress->spelling = std::move(spelling);
  } else {
    --spelling_count_;
  }
}

// Adds the other spelling to the answer. A page with results does not wait for it.
void SearchPlan::AdoptSpelling(Progress* progress) {
  SearchAnswer& answer = *progress->answer;
  if (progress->spelling == nullptr || !NeedsSpelling(answer, progress->found_count, options_)) {
    return;
  }
  PendingSpelling& spelling = *progress->spelling;
  spelling.found_count = progress->found_count;
  if (answer.results.empty()) {
    const Step step("spelling", StepKind::kWait, progress->received, &answer);
    (void)spelling.done.Wait(spelling.deadline);
  }
  if (spelling.done.is_set()) {
    spelling.AddTo(&answer);
    (answer.did_you_mean.empty() ? metrics_.spelling_none : metrics_.spelling_proposed)
        ->Increment();
    return;
  }
  metrics_.spelling_late->Increment();
  answer.spelling_is_complete = false;
  spelling.is_late = true;
  spelling.page = answer;
  spelling.entry = progress->entry;
}

void SearchPlan::Remember(const ClientSession& session, const SearchAnswer& answer,
                          const CacheEntryName& entry) {
  if (!MayCache(answer)) return;
  cache_.InsertLater(session, entry, ToCachedForm(answer));
}

void SearchPlan::CountOutcome(const Status& status, const SearchAnswer& answer) {
  if (status.ok()) {
    (answer.coverage.complete() ? metrics_.answer_complete : metrics_.answer_partial)->Increment();
  } else if (status.code() == neptune::StatusCode::kInvalidArgument ||
             status.code() == neptune::StatusCode::kResourceExhausted) {
    metrics_.answer_refused->Increment();
  } else {
    metrics_.answer_failed->Increment();
  }
}

StatusOr<CachedDocument> SearchPlan::FetchDocument(uint64_t doc_id) {
  const uint64_t version = index_version_.load(std::memory_order_relaxed);
  ClientSession session(client_);
  NEPTUNE_ASSIGN_OR_RETURN(docserver::Summary summary,
                           documents_.FetchText(session, doc_id, version));
  CachedDocument document{.doc_id = StrCat(doc_id)};
  document.url = std::move(*summary.mutable_url());
  document.title = std::move(*summary.mutable_title());
  document.site = std::move(*summary.mutable_site());
  document.text = std::move(*summary.mutable_text());
  return document;
}

void SearchPlan::FinishInserts() {
  const auto is_busy = [this] {
    return cache_.insert_count() > 0 || suggester_.insert_count() > 0 || spelling_count_ > 0;
  };
  const TimePoint end =
      neptune::this_thread::Now() + options_.spelling_timeout + 2 * options_.cache_insert_timeout;
  while (is_busy() && neptune::this_thread::Now() < end) {
    if (neptune::this_thread::SleepFor(kInsertPoll) == neptune::ParkResult::kStopping) return;
  }
}

}  // namespace search::frontend
