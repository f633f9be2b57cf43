#include "frontend/search_plan/search_plan.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/policy/field_notes.h"
#include "frontend/policy/given_up_words.h"
#include "frontend/policy/site_facets.h"
#include "frontend/policy/site_note.h"
#include "frontend/policy/spelling_policy.h"
#include "frontend/policy/tier_bound.h"
#include "frontend/search_plan/answer_details.h"
#include "frontend/search_plan/cached_form.h"
#include "frontend/search_plan/page_documents.h"
#include "frontend/search_plan/spelling_lookup.h"
#include "frontend/search_plan/two_tiers.h"
#include "index/core/document_fields.h"
#include "index/core/query/query.h"
#include "index/core/query/scoring_words.h"
#include "index/tier/operators.h"
#include "index/tier/tier_service.h"
#include "neptune/base/strings.h"
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

// How the query was understood.
void AdoptReading(const index::Query& query, SearchAnswer* answer) {
  answer->notes = query.notes;
  answer->narrowings.clear();
  for (const index::QueryPart& part : query.parts) {
    answer->narrowings.push_back(
        {.is_exclusion = part.kind == index::QueryPart::Kind::kExclusion,
         .text = part.text,
         .query_without = index::WithoutPart(answer->searched_query(), part),
         .is_field = part.kind == index::QueryPart::Kind::kField});
  }
}

// Adds what depends on how the question was typed.
void AddLinks(const std::vector<index::ScoringWord>& words, SearchAnswer* answer) {
  NameGivenUpWords(words, answer);
  if (answer->site_facets) LinkSites(answer->searched_query(), &*answer->site_facets);
  LinkMoreOfSites(answer->searched_query(), &answer->results);
}

// Tells the tiers of the search that is not shown apart in the trace.
void RenameOtherSearch(SearchStep* step) {
  if (step->name == "tier 1") step->name = "tier 1, other spelling";
  if (step->name == "tier 2") step->name = "tier 2, other spelling";
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

// State of a search in progress.
struct SearchPlan::Progress {
  SearchAnswer* answer = nullptr;
  TimePoint received;
  // The reading of the query that is searched for.
  std::string canonical;
  std::vector<std::string> site_filters;
  std::vector<std::string> fields;
  std::vector<index::ScoringWord> words;
  BoundedQuery bounded;
  PageWindow page;
  CacheEntryName entry;
  // The index version to ask, even if another one becomes current meanwhile; 0: any.
  uint64_t asked_version = 0;
  // The ranked hits, how many of the first are sure (TwoTiersAnswer), and their index version.
  TierAnswer hits;
  uint32_t sure_count = UINT32_MAX;
  IndexState index;
  // Documents with each of the words; empty: not known.
  std::vector<uint64_t> word_counts;
  void NameEntryOf(const IndexState& state) {
    entry.index_version = state.version;
    entry.ages = state.epoch != 0;
  }
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
  answer->may_correct = order.may_correct;
  answer->first_page_size = order.first_page_size;
  answer->steps.reserve(kStepCountMax);
  answer->steps.push_back(
      {"arrival", StepKind::kQueue, {}, neptune::this_thread::Now() - order.received});
  const Status status = Run(order, answer);
  CountOutcome(status, *answer);
  answer->took = neptune::this_thread::Now() - order.received;
  answer->answered_at = world_.wall_time();
  return status;
}

// Reads the text, which is the query as typed or another spelling, as what is searched for.
Status SearchPlan::Interpret(const std::string& text, Progress* progress) const {
  StatusOr<index::Query> query = index::ParseQuestion(text);
  if (!query.ok()) {
    return InvalidArgument("parameter q: ", neptune::ToStd(query.status().message()));
  }
  if (options_.synonyms != nullptr) options_.synonyms->Expand(&*query);
  AdoptReading(*query, progress->answer);
  if (query->empty()) return neptune::OkStatus();
  progress->canonical = index::Canonical(*query);
  progress->site_filters = index::SiteFilters(*query);
  progress->fields = index::FilteredFields(*query);
  progress->words = index::ScoringWords(*query);
  progress->bounded = BoundedQueryOf(*query);
  return neptune::OkStatus();
}

Status SearchPlan::Run(const SearchOrder& order, SearchAnswer* answer) {
  Progress progress;
  progress.answer = answer;
  progress.received = order.received;
  NEPTUNE_ASSIGN_OR_RETURN(progress.page, ReachablePage(order.start, order.count));
  progress.page.folds = order.folds && !order.by_date;
  NEPTUNE_RETURN_IF_ERROR(Interpret(order.query, &progress));
  if (progress.canonical.empty()) return neptune::OkStatus();
  progress.entry.key = CacheKey(
      progress.canonical, progress.page,
      StrCat(order.count_sites ? "s" : "", order.by_date ? "d" : "", order.may_correct ? "" : "t"));
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
  if (reply.use.outcome == CacheUse::Outcome::kHit && !AdoptCached(reply, progress)) {
    reply.use.outcome = CacheUse::Outcome::kMiss;
  }
  progress->answer->coverage.cache = reply.use;
  metrics_.ForLookup(reply.use.outcome).Increment();
  return reply.use.outcome == CacheUse::Outcome::kHit;
}

// Returns false and leaves the answer unchanged if the cached one must not be used.
bool SearchPlan::AdoptCached(const CacheReply& reply, Progress* progress) {
  SearchAnswer cached = *progress->answer;
  if (!FromCachedForm(reply.value, &cached).ok()) return false;
  if (!index_watch_.MayGive(cached.index_epoch, reply.use.age)) return false;
  if (cached.corrected_query.empty()) {
    *progress->answer = std::move(cached);
    return true;
  }
  Progress corrected = *progress;
  corrected.answer = &cached;
  if (!Interpret(cached.corrected_query, &corrected).ok()) return false;
  cached.notes.insert(cached.notes.end(), cached.index_notes.begin(), cached.index_notes.end());
  *progress->answer = std::move(cached);
  corrected.answer = progress->answer;
  *progress = std::move(corrected);
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
  const auto details = [&] { return DetailQuestion{progress->canonical, progress->asked_version}; };
  const std::string as_typed = progress->canonical;
  std::optional<SiteCounting> sites;
  if (order.count_sites) sites.emplace(SiteCounting::Start(session, details(), options_));
  NEPTUNE_RETURN_IF_ERROR(AskTiers(session, progress));
  AddSpellingAndSummaries(session, order, progress);
  if (sites.has_value()) {
    // Documents of the spelling that is shown are counted.
    if (progress->canonical != as_typed) {
      sites.emplace(SiteCounting::Start(session, details(), options_));
    }
    const Step step("sites", StepKind::kWait, order.received, progress->answer);
    progress->answer->site_facets = sites->Await();
  }
  if (order.explain) {
    const Step step("explanations", StepKind::kWait, order.received, progress->answer);
    ExplainResults(session, details(), progress->words, options_, progress->answer);
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
  TwoTiersAnswer found = TwoTiers(options_, metrics_, &forecast_).Ask(session, question, &answer);
  const StatusOr<TierAnswer>& hits = found.hits;
  if (hits.status().code() == neptune::StatusCode::kInvalidArgument) {
    return InvalidArgument("parameter q: ", neptune::ToStd(hits.status().message()));
  }
  if (!hits.ok()) return NothingAnswered(answer.coverage);
  if (progress->asked_version != 0 && hits->index_version() != progress->asked_version) {
    return neptune::Internal("index servers answered for version ", hits->index_version(),
                             ", expected ", progress->asked_version);
  }
  progress->word_counts = WordCounts(*hits, found.has_tier2);
  AdoptTotal(*hits, found.is_whole, &answer);
  const bool is_sure = answer.coverage.complete() && !hits->prefix_is_cut();
  answer.coverage.sure_share = is_sure ? found.sure_share : 0;
  AdoptIndexNotes(
      *hits, found.saw_all_sites ? progress->site_filters : std::vector<std::string>(),
      FieldNotes(progress->fields, *hits, found.saw_all_sites && answer.coverage.complete()),
      &answer);
  progress->index = {.version = hits->index_version(), .epoch = found.tier1_epoch};
  answer.index_version = hits->index_version();
  progress->sure_count = found.sure_count;
  progress->hits = *std::move(found.hits);
  return neptune::OkStatus();
}

void SearchPlan::AddSummaries(ClientSession& session, Progress* progress) {
  if (static_cast<uint32_t>(progress->hits.hits_size()) <= progress->page.start) return;
  const Step step("documents", StepKind::kWait, progress->received, progress->answer);
  const StepTimer timer(metrics_.document_time);
  const DocumentRequest request{.canonical_query = progress->canonical,
                                .index_version = progress->asked_version};
  SearchAnswer& answer = *progress->answer;
  const uint32_t judged =
      PageDocuments(documents_, session, request, options_.document_timeout)
          .Fill(progress->hits, progress->page, progress->site_filters.empty(), &answer);
  // A page that folds depends on hits beyond those that tier 2 was judged by.
  if (progress->page.start == 0 && judged > progress->page.count && judged > progress->sure_count) {
    const double sure = static_cast<double>(progress->sure_count) / judged;
    answer.coverage.sure_share = std::min(answer.coverage.sure_share, sure);
  }
}

// A spelling that may replace the results is awaited before their summaries are fetched; one that
// can only be offered is looked for meanwhile.
void SearchPlan::AddSpellingAndSummaries(ClientSession& session, const SearchOrder& order,
                                         Progress* progress) {
  std::vector<index::SpelledWord> words;
  if (options_.spelling && order.may_correct) {
    words = DoubtfulWords(order.query, progress->words, progress->word_counts,
                          options_.spelling_documents_max);
  }
  const bool may_replace = HasUnknownWord(words) || progress->answer->total == 0;
  // Every page of a corrected query is corrected; only the first one offers a spelling.
  if (words.empty() || (order.start > 0 && !may_replace)) {
    AddSummaries(session, progress);
    return;
  }
  const auto lookup = SpellingLookup::Start(
      {&suggester_, metrics_.spelling_time, &spelling_count_}, session,
      {.query = order.query,
       .words = std::move(words),
       .must_match = !progress->answer->narrowings.empty() && progress->hits.hits_size() > 0,
       .index_version = progress->asked_version,
       .deadline = neptune::this_thread::Now() + options_.spelling_timeout});
  if (may_replace) AdoptSpelling(session, lookup.get(), progress);
  AddSummaries(session, progress);
  if (!may_replace) AdoptSpelling(session, lookup.get(), progress);
}

// Waits for the other spelling, and offers it or searches for it.
void SearchPlan::AdoptSpelling(ClientSession& session, SpellingLookup* lookup, Progress* progress) {
  SearchAnswer& answer = *progress->answer;
  const SpellingResult spelling = [&] {
    const Step step("spelling", StepKind::kWait, progress->received, &answer);
    return lookup->Await();
  }();
  answer.spelling_is_complete = spelling.is_complete;
  if (!spelling.is_complete) {
    metrics_.spelling_late->Increment();
    answer.notes.emplace_back("Another spelling could not be looked for in time.");
    return;
  }
  if (!spelling.best.has_value()) {
    metrics_.spelling_none->Increment();
    return;
  }
  if (UseOfSpelling(*spelling.best, answer) == SpellingUse::kReplace) {
    const bool is_replaced = SearchCorrected(session, spelling.best->text, progress);
    (is_replaced ? metrics_.spelling_replaced : metrics_.spelling_none)->Increment();
    return;
  }
  answer.did_you_mean = spelling.best->text;
  metrics_.spelling_proposed->Increment();
}

// Searches for another spelling instead. False, and nothing has changed, if it finds nothing.
bool SearchPlan::SearchCorrected(ClientSession& session, const std::string& text,
                                 Progress* progress) {
  SearchAnswer answer = *progress->answer;
  answer.corrected_query = text;
  answer.results.clear();
  answer.index_notes.clear();
  answer.coverage.tiers.clear();
  const size_t step_count = answer.steps.size();
  Progress corrected = *progress;
  corrected.answer = &answer;
  const Status status = [&] {
    NEPTUNE_RETURN_IF_ERROR(Interpret(text, &corrected));
    return AskTiers(session, &corrected);
  }();
  const bool is_replaced = status.ok() && answer.total > 0;
  // The coverage of the answer is that of one of the two searches.
  for (size_t i = 0; i < answer.steps.size(); ++i) {
    if ((i < step_count) == is_replaced) RenameOtherSearch(&answer.steps[i]);
  }
  progress->answer->steps = answer.steps;
  if (!is_replaced) {
    // Another attempt may find something: it is not kept.
    progress->answer->spelling_is_complete = status.ok() && answer.coverage.complete();
    return false;
  }
  answer.spelling_is_complete =
      progress->answer->coverage.complete() && corrected.index.epoch == progress->index.epoch;
  *progress->answer = std::move(answer);
  corrected.answer = progress->answer;
  *progress = std::move(corrected);
  return true;
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

StatusOr<CachedDocument> SearchPlan::FetchDocument(uint64_t doc_id, const std::string& query) {
  DocumentRequest request{.doc_ids = {doc_id}};
  request.index_version = index_version_.load(std::memory_order_relaxed);
  if (StatusOr<index::Query> parsed = index::ParseQuestion(query); parsed.ok()) {
    if (options_.synonyms != nullptr) options_.synonyms->Expand(&*parsed);
    request.canonical_query = index::Canonical(*parsed);
  }
  ClientSession session(client_);
  NEPTUNE_ASSIGN_OR_RETURN(docserver::Summary summary, documents_.FetchText(session, request));
  CachedDocument document{.doc_id = StrCat(doc_id)};
  document.url = std::move(*summary.mutable_url());
  document.title = std::move(*summary.mutable_title());
  document.site = std::move(*summary.mutable_site());
  document.text = std::move(*summary.mutable_text());
  document.public_url = std::move(*summary.mutable_public_url());
  document.structure = std::move(*summary.mutable_structure());
  document.query = query;
  const docserver::TextRanges& matches = summary.query_matches();
  for (int i = 0; i < std::min(matches.begins_size(), matches.sizes_size()); ++i) {
    document.matches.push_back({matches.begins(i), matches.sizes(i)});
  }
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
