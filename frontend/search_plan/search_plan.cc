#include "frontend/search_plan/search_plan.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/policy/field_notes.h"
#include "frontend/policy/given_up_words.h"
#include "frontend/policy/question_reading.h"
#include "frontend/policy/site_facets.h"
#include "frontend/policy/site_note.h"
#include "frontend/policy/spelling_policy.h"
#include "frontend/policy/step_budget.h"
#include "frontend/search_plan/answer_details.h"
#include "frontend/search_plan/cached_form.h"
#include "frontend/search_plan/page_documents.h"
#include "frontend/search_plan/search_progress.h"
#include "frontend/search_plan/search_steps.h"
#include "frontend/search_plan/spelling_lookup.h"
#include "frontend/search_plan/two_tiers.h"
#include "index/core/document_fields.h"
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
constexpr size_t kStepCountMax = 11;

// A total is exact only if every partition of every tier that has matches counted. Partitions
// choose the words of a cut prefix by themselves, so it finds other documents than in one index.
void AdoptTotal(const TierAnswer& hits, bool is_whole, SearchAnswer* answer) {
  answer->total = std::max<uint64_t>(hits.total(), hits.hits_size());
  answer->total_is_exact = hits.total_is_exact() && is_whole && !hits.prefix_is_cut();
  for (const ServiceCoverage& tier : answer->coverage.tiers) {
    if (!tier.complete()) answer->total_is_exact = false;
  }
}

// Adds what depends on the index: filters by site that find nothing, documents without a field,
// prefixes that were cut, and phrases that were left out. `filters`: those by site, if every
// document was looked at.
void AdoptIndexNotes(const TierAnswer& hits, const std::vector<std::string>& filters,
                     std::vector<std::string> field_notes, SearchAnswer* answer) {
  if (hits.prefix_is_cut()) {
    answer->index_notes.emplace_back(
        "More words begin as asked with * than are searched for; only the most frequent were.");
  }
  if (hits.phrase_is_left_out()) {
    answer->index_notes.emplace_back(
        "The index does not know where words stand: phrases among alternatives were left out.");
  }
  if (answer->coverage.complete() && !filters.empty()) {
    std::string note = SiteNote(filters, hits);
    if (!note.empty()) answer->index_notes.push_back(std::move(note));
  }
  for (std::string& note : field_notes) answer->index_notes.push_back(std::move(note));
  answer->notes.insert(answer->notes.end(), answer->index_notes.begin(), answer->index_notes.end());
}

// Adds what depends on how the question was typed.
void AddLinks(const std::vector<index::ScoringWord>& words, SearchAnswer* answer) {
  NameGivenUpWords(words, answer);
  // A filter cannot be added to running text.
  if (answer->is_plain) return;
  if (answer->site_facets) LinkSites(answer->searched_query(), &*answer->site_facets);
  LinkMoreOfSites(answer->searched_query(), &answer->results);
}

// Tells the tiers of a search that is not shown apart in the trace.
void RenameOtherSearch(SearchStep* step) {
  if (step->name == "tier 1") step->name = "tier 1, not shown";
  if (step->name == "tier 2") step->name = "tier 2, not shown";
}

// Adds what one search did to the servers: its longest wait, and the time it ran there.
void AddLoad(const Coverage& coverage, neptune::RequestEnd* load) {
  neptune::Duration wait{0};
  neptune::Duration run{0};
  for (const ServiceCoverage& tier : coverage.tiers) {
    load->refused |= tier.refused;
    wait = std::max(wait, tier.server_wait);
    run = std::max(run, tier.server_run);
  }
  load->server_wait += wait;
  load->server_run += run;
}

void Remember(CacheClient& cache, const ClientSession& session, const SearchAnswer& answer,
              const CacheEntryName& entry, neptune::Duration life) {
  if (life <= neptune::Duration(0)) return;
  // The cache may have a whole answer that this search did not look for.
  const bool is_missing = answer.coverage.cache.outcome == CacheUse::Outcome::kMiss;
  if (!IsWhole(answer) && !is_missing) return;
  cache.InsertLater(session, entry, ToCachedForm(answer), life);
}

neptune::AdmissionOptions GateOptions(const SearchPlanOptions& options,
                                      const neptune::SchedulerOptions& scheduling) {
  neptune::AdmissionOptions gate;
  gate.scheduling = scheduling;
  gate.waiting_count_max = options.search_waiting_count_max;
  gate.limit.max = options.search_count_max;
  gate.limit.initial = std::min(gate.limit.initial, gate.limit.max);
  gate.limit.min = std::min(gate.limit.min, gate.limit.max);
  gate.limit.wait_goal = options.server_wait_goal;
  return gate;
}

void CountOutcome(const PlanMetrics& metrics, const Status& status, const SearchAnswer& answer) {
  if (status.ok()) {
    (answer.coverage.complete() ? metrics.answer_complete : metrics.answer_partial)->Increment();
  } else if (status.code() == neptune::StatusCode::kInvalidArgument ||
             status.code() == neptune::StatusCode::kResourceExhausted) {
    metrics.answer_refused->Increment();
  } else if (status.code() == neptune::StatusCode::kCancelled) {
    metrics.answer_gone->Increment();
  } else {
    metrics.answer_failed->Increment();
  }
}

}  // namespace

SearchPlan::SearchPlan(neptune::Client& client, neptune::World& world,
                       const SearchPlanOptions& options,
                       const neptune::SchedulerOptions& scheduling, const PlanMetrics& metrics)
    : client_(client),
      world_(world),
      options_(options),
      metrics_(metrics),
      cache_(options, metrics),
      documents_(options),
      suggester_(options, metrics),
      gate_(GateOptions(options, scheduling)),
      overlap_({.miss_share_min = options.overlap_miss_share_min,
                .waste_share_max = options.overlap_waste_share_max}),
      index_watch_(options.index_check_interval),
      flights_(options.joined_search_count_max),
      refreshes_(options.stale_refresh_count_max, metrics_),
      asked_(options.stale_answers) {}

Status SearchPlan::Search(const SearchOrder& order, SearchAnswer* answer) {
  answer->query = order.query;
  answer->start = order.start;
  answer->by_date = order.by_date;
  answer->count = order.count;
  answer->is_plain = order.is_plain;
  answer->may_correct = order.may_correct;
  answer->may_relax = order.may_relax;
  answer->first_page_size = order.first_page_size;
  answer->steps.reserve(kStepCountMax);
  answer->steps.push_back(
      {"arrival", StepKind::kQueue, {}, neptune::this_thread::Now() - order.received});
  const Status status = Run(order, answer);
  CountOutcome(metrics_, status, *answer);
  answer->took = neptune::this_thread::Now() - order.received;
  answer->answered_at = world_.wall_time();
  return status;
}

// Reads the question as what is searched for.
Status SearchPlan::Interpret(QuestionText question, Progress* progress) const {
  NEPTUNE_ASSIGN_OR_RETURN(progress->reading,
                           ReadQuestion(question, progress->asked.synonyms.get()));
  progress->question = std::move(question);
  SearchAnswer& answer = *progress->answer;
  answer.notes = progress->reading.notes;
  answer.narrowings = progress->reading.narrowings;
  answer.unmet_demands = progress->reading.unmet_demands;
  return neptune::OkStatus();
}

Status SearchPlan::Run(const SearchOrder& order, SearchAnswer* answer) {
  Progress progress{.budget = {order.received, options_.TimeoutFor(order.timeout)}};
  progress.answer = answer;
  progress.received = order.received;
  NEPTUNE_ASSIGN_OR_RETURN(progress.page, ReachablePage(order.start, order.count));
  progress.page.folds = order.folds && !order.by_date;
  progress.asked = order.index ? *order.index : asked_.Now();
  NEPTUNE_RETURN_IF_ERROR(Interpret({.text = order.query, .is_plain = order.is_plain}, &progress));
  if (progress.reading.canonical.empty()) return neptune::OkStatus();
  const std::optional<IndexState> known = index_watch_.KnownAt(neptune::this_thread::Now());
  if (known.has_value()) progress.NameEntryOf(*known);
  progress.NameEntry(VariantOf(order), options_);

  ClientSession session(client_, neptune::RequestContext({.deadline = progress.budget.deadline(),
                                                          .service_class = order.service_class,
                                                          .trace = order.trace},
                                                         order.call, world_));
  NEPTUNE_RETURN_IF_ERROR(CheckClient(session));
  const bool may_use_cache = order.may_use_cache && !order.explain && known.has_value();
  // Right after a switch of the index the cache is asked for the former answer, too.
  const bool is_plain_lookup = may_use_cache && !order.index && cache_.CanHold(progress.entry) &&
                               !asked_.FormerAt(neptune::this_thread::Now()).has_value();
  if (is_plain_lookup &&
      overlap_.Begin(progress.reading.words.size(), /*is_busy=*/gate_.waiting() > 0)) {
    NEPTUNE_RETURN_IF_ERROR(ComputeMeanwhile(session, order, &progress));
    AddLinks(progress.reading.words, answer);
    return neptune::OkStatus();
  }
  const bool is_found =
      AnswerFromCache(session, may_use_cache, &progress) ||
      (may_use_cache && order.may_be_stale && AnswerOfFormerIndex(session, order, &progress));
  // A search that must not use the cache does not wait for one that began before it either.
  if (!is_found) {
    NEPTUNE_RETURN_IF_ERROR(may_use_cache ? ComputeOnce(session, order, &progress)
                                          : ComputeAndRemember(session, order, &progress));
  }
  AddLinks(progress.reading.words, answer);
  return neptune::OkStatus();
}

Status SearchPlan::ComputeAndRemember(ClientSession& session, const SearchOrder& order,
                                      Progress* progress) {
  const TimePoint begin = neptune::this_thread::Now();
  SearchAnswer* const answer = progress->answer;
  NEPTUNE_RETURN_IF_ERROR(Compute(session, order, progress));
  if (progress->lookup != nullptr) answer->coverage.cache = UseOf(progress->lookup->Reply());
  progress->NameEntryOf(progress->index);
  if (answer->coverage.complete() && !order.index) {
    index_watch_.Learn(progress->index, neptune::this_thread::Now());
  }
  answer->index_epoch = index_watch_.EpochToKeep(progress->index.epoch, begin);
  progress->entry.cost = neptune::this_thread::Now() - begin;
  // A partial answer of a client in a hurry is not what others would get.
  if (IsWhole(*answer) || order.timeout <= neptune::Duration(0)) {
    Remember(cache_, session, *answer, progress->entry, CacheLife(*answer, options_));
  }
  return neptune::OkStatus();
}

Status SearchPlan::Compute(ClientSession& session, const SearchOrder& order, Progress* progress) {
  const TimePoint begin = neptune::this_thread::Now();
  auto pass = [&] {
    const Step step("gate", StepKind::kQueue, order.received, progress->answer);
    // The gate does not get the deadline: it would refuse what takes longer on average, but a
    // search that is short of time is cut. It may wait for half of its time.
    const TimePoint until =
        std::min(order.received + options_.admission_timeout,
                 progress->budget.EndOf(BudgetStep::kGate, options_.admission_timeout, begin));
    return gate_.Admit({.service_class = order.class_number,
                        .arrived = order.received,
                        .begin_by = until,
                        .client = order.client,
                        .call = session.caller()});
  }();
  if (pass.status().code() == neptune::StatusCode::kDeadlineExceeded) {
    return neptune::ResourceExhausted(
        "the search was not admitted within ",
        neptune::ToMillis(neptune::this_thread::Now() - order.received), " ms");
  }
  NEPTUNE_RETURN_IF_ERROR(pass.status());
  session.SetWaited(neptune::this_thread::Now() - begin);
  Status status = CheckClient(session);
  if (status.ok()) status = AskServers(session, order, progress);
  progress->load.abandoned = IsGone(session);
  pass->End(progress->load);
  return status;
}

Status SearchPlan::AskServers(ClientSession& session, const SearchOrder& order,
                              Progress* progress) {
  const auto details = [&] {
    return DetailQuestion{progress->reading.canonical, progress->asked.version};
  };
  const std::string as_typed = progress->reading.canonical;
  const auto count_sites = [&] {
    return SiteCounting::Start(session, details(), options_, progress->DetailsEnd(options_));
  };
  std::optional<SiteCounting> sites;
  if (order.count_sites) sites.emplace(count_sites());
  NEPTUNE_RETURN_IF_ERROR(AskTiers(session, progress));
  AddSpellingAndSummaries(session, order, progress);
  // A complete answer is of use to others, even if the client has just left.
  const bool is_done =
      !progress->is_abandoned && IsWhole(*progress->answer) && !order.count_sites && !order.explain;
  if (!is_done) NEPTUNE_RETURN_IF_ERROR(CheckClient(session));
  if (sites.has_value()) {
    // Documents of the reading that is shown are counted.
    if (progress->reading.canonical != as_typed) {
      sites.emplace(count_sites());
    }
    const Step step("sites", StepKind::kWait, order.received, progress->answer);
    progress->answer->site_facets = sites->Await();
  }
  if (order.explain) {
    const Step step("explanations", StepKind::kWait, order.received, progress->answer);
    ExplainResults(session, details(), options_, progress->DetailsEnd(options_),
                   progress->reading.words, progress->answer);
  }
  return neptune::OkStatus();
}

Status SearchPlan::AskTiers(ClientSession& session, Progress* progress) {
  SearchAnswer& answer = *progress->answer;
  const QuestionReading& reading = progress->reading;
  TierQuestion question = {.query = MakeTierQuery(reading.canonical, progress->page, options_),
                           .page = progress->page,
                           .bounded = reading.bounded,
                           .received = progress->received,
                           .budget = progress->budget};
  question.query.set_index_version(progress->asked.version);
  if (answer.by_date) {
    question.query.set_order_by_date(true);
    question.query.set_second_phase_count(0);
    question.bounded.is_bounded = false;
  }
  TwoTiersAnswer found = TwoTiers(options_, metrics_, &forecast_).Ask(session, question, &answer);
  NEPTUNE_RETURN_IF_ERROR(CheckClient(session));
  AddLoad(answer.coverage, &progress->load);
  const StatusOr<TierAnswer>& hits = found.hits;
  if (hits.status().code() == neptune::StatusCode::kInvalidArgument) {
    return InvalidArgument("parameter q: ", neptune::ToStd(hits.status().message()));
  }
  if (!hits.ok()) return NothingAnswered(answer.coverage);
  if (progress->asked.version != 0 && hits->index_version() != progress->asked.version) {
    return neptune::Internal("index servers answered for version ", hits->index_version(),
                             ", expected ", progress->asked.version);
  }
  progress->word_counts = WordCounts(*hits, found.has_tier2);
  AdoptTotal(*hits, found.is_whole, &answer);
  const bool is_sure = answer.coverage.complete() && !hits->prefix_is_cut();
  answer.coverage.sure_share = is_sure ? found.sure_share : 0;
  AdoptIndexNotes(
      *hits, found.saw_all_sites ? reading.site_filters : std::vector<std::string>(),
      FieldNotes(reading.fields, *hits, found.saw_all_sites && answer.coverage.complete()),
      &answer);
  progress->index = {.version = hits->index_version(), .epoch = found.tier1_epoch};
  answer.index_version = hits->index_version();
  progress->sure_count = found.sure_count;
  progress->hits = *std::move(found.hits);
  return neptune::OkStatus();
}

void SearchPlan::AddSummaries(ClientSession& session, Progress* progress) {
  if (static_cast<uint32_t>(progress->hits.hits_size()) <= progress->page.start) return;
  if (progress->Abandons(session)) return;
  const Step step("documents", StepKind::kWait, progress->received, progress->answer);
  const StepTimer timer(metrics_.document_time);
  const TimePoint now = neptune::this_thread::Now();
  const DocumentRequest request{
      .canonical_query = progress->reading.canonical,
      .index_version = progress->asked.version,
      .deadline = progress->budget.EndOf(BudgetStep::kDocuments, options_.document_timeout, now),
      .titles_end = progress->budget.end()};
  SearchAnswer& answer = *progress->answer;
  const uint32_t judged =
      PageDocuments(documents_, session, request)
          .Fill(progress->hits, progress->page, progress->reading.site_filters.empty(), &answer);
  // A page that folds depends on hits beyond those that tier 2 was judged by.
  if (progress->page.start == 0 && judged > progress->page.count && judged > progress->sure_count) {
    const double sure = static_cast<double>(progress->sure_count) / judged;
    answer.coverage.sure_share = std::min(answer.coverage.sure_share, sure);
  }
}

// A spelling that may replace the results is awaited before their summaries are fetched; one that
// can only be offered is looked for meanwhile. If nothing is found still, demands are relaxed; but
// a search that was cut does not show that nothing meets them, and its page says what was cut.
void SearchPlan::AddSpellingAndSummaries(ClientSession& session, const SearchOrder& order,
                                         Progress* progress) {
  std::vector<index::SpelledWord> words;
  if (options_.spelling && order.may_correct) {
    words = DoubtfulWords(order.query, progress->reading.words, progress->word_counts,
                          options_.spelling_documents_max);
  }
  const bool may_replace = HasUnknownWord(words) || progress->answer->found_nothing();
  std::shared_ptr<SpellingLookup> lookup;
  const TimePoint now = neptune::this_thread::Now();
  // Every page of a corrected query is corrected; only the first one offers a spelling.
  if (!words.empty() && (order.start == 0 || may_replace) && !progress->Abandons(session)) {
    lookup = SpellingLookup::Start(
        {&suggester_, metrics_.spelling_time, &spelling_count_}, session,
        {.query = order.query,
         .words = std::move(words),
         .must_match = !progress->answer->narrowings.empty() && progress->hits.hits_size() > 0,
         .index_version = progress->asked.version,
         .deadline =
             progress->budget.EndOf(BudgetStep::kSpelling, options_.spelling_timeout, now)});
  }
  if (lookup != nullptr && may_replace) AdoptSpelling(session, lookup.get(), progress);
  if (order.may_relax && progress->answer->found_nothing()) RelaxDemands(session, progress);
  AddSummaries(session, progress);
  if (lookup != nullptr && !may_replace) AdoptSpelling(session, lookup.get(), progress);
  if (progress->spelling_is_late) {
    progress->answer->notes.emplace_back("Another spelling could not be looked for in time.");
  }
  if (progress->relaxing_is_late) {
    progress->answer->notes.emplace_back(
        "Pages with some of what is asked for could not be looked for in time.");
  }
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
    progress->spelling_is_late = true;
    return;
  }
  if (!spelling.best.has_value()) {
    metrics_.spelling_none->Increment();
    return;
  }
  if (UseOfSpelling(*spelling.best, answer) == SpellingUse::kReplace) {
    const bool is_replaced = SearchInstead(
        session, {.text = spelling.best->text, .is_plain = answer.is_plain}, progress);
    (is_replaced ? metrics_.spelling_replaced : metrics_.spelling_none)->Increment();
    if (!is_replaced && spelling.best->is_sure) progress->sure_spelling = spelling.best->text;
    return;
  }
  answer.did_you_mean = spelling.best->text;
  metrics_.spelling_proposed->Increment();
}

// Nothing has all that the question demands: searches for its words, or for those of a spelling
// that can hardly be wrong.
void SearchPlan::RelaxDemands(ClientSession& session, Progress* progress) {
  const SearchAnswer& answer = *progress->answer;
  const std::string& corrected = progress->sure_spelling;
  const bool is_relaxed = SearchInstead(session,
                                        {.text = corrected.empty() ? answer.query : corrected,
                                         .is_plain = answer.is_plain,
                                         .is_relaxed = true},
                                        progress);
  if (is_relaxed) metrics_.relaxed->Increment();
  progress->relaxing_is_late = !is_relaxed && progress->budget.IsSpent(neptune::this_thread::Now());
}

// Searches for another reading of the question, which may be another spelling. False if it finds
// nothing: what was found before is then shown.
bool SearchPlan::SearchInstead(ClientSession& session, const QuestionText& question,
                               Progress* progress) {
  if (progress->Abandons(session)) return false;
  SearchAnswer answer = *progress->answer;
  Progress other = *progress;
  other.answer = &answer;
  if (question.text != answer.query) answer.corrected_query = question.text;
  if (!Interpret(question, &other).ok()) return false;
  if (question.is_relaxed && other.reading.unmet_demands.empty()) return false;
  answer.results.clear();
  answer.index_notes.clear();
  answer.coverage.earlier_is_complete = progress->answer->coverage.complete();
  answer.coverage.tiers.clear();
  const size_t step_count = answer.steps.size();
  const Status status = AskTiers(session, &other);
  progress->load = other.load;
  const bool is_shown = status.ok() && answer.total > 0;
  // The coverage of the answer is that of one of the searches.
  for (size_t i = 0; i < answer.steps.size(); ++i) {
    if ((i < step_count) == is_shown) RenameOtherSearch(&answer.steps[i]);
  }
  progress->answer->steps = answer.steps;
  if (!is_shown) {
    // Another attempt may find something: it is not kept.
    if (!status.ok() || !answer.coverage.complete()) progress->answer->spelling_is_complete = false;
    return false;
  }
  const bool is_same_index =
      other.index.epoch == progress->index.epoch && other.index.version == progress->index.version;
  answer.spelling_is_complete = progress->answer->spelling_is_complete &&
                                progress->answer->coverage.complete() && is_same_index;
  *progress->answer = std::move(answer);
  progress->Adopt(std::move(other));
  return true;
}

StatusOr<SuggestedTexts> SearchPlan::Suggest(SuggestOrder order) {
  order.index_version = asked_.Now().version;
  const neptune::Duration longest = 2 * options_.cache_timeout + options_.suggest_timeout;
  ClientSession session(client_,
                        neptune::RequestContext({.deadline = neptune::this_thread::Now() + longest,
                                                 .service_class = order.service_class},
                                                order.call, world_));
  return suggester_.Suggest(session, order);
}

StatusOr<CachedDocument> SearchPlan::FetchDocument(
    uint64_t doc_id, const std::string& query, bool is_plain,
    const std::shared_ptr<neptune::IncomingCall>& call) {
  DocumentRequest request{.doc_ids = {doc_id}};
  request.deadline = neptune::this_thread::Now() + options_.document_timeout;
  const AskedIndex asked = asked_.Now();
  request.index_version = asked.version;
  const auto reads = [&](bool is_relaxed) {
    const auto reading = ReadQuestion(
        {.text = query, .is_plain = is_plain, .is_relaxed = is_relaxed}, asked.synonyms.get());
    request.canonical_query = reading.ok() ? reading->canonical : "";
    return !request.canonical_query.empty();
  };
  const bool has_words = reads(/*is_relaxed=*/false);
  ClientSession session(client_,
                        neptune::RequestContext({.deadline = *request.deadline}, call, world_));
  NEPTUNE_ASSIGN_OR_RETURN(docserver::Summary summary, documents_.FetchText(session, request));
  // A page that was found without the phrase that the question demands.
  if (has_words && summary.query_matches().begins_size() == 0 && reads(/*is_relaxed=*/true)) {
    NEPTUNE_ASSIGN_OR_RETURN(summary, documents_.FetchText(session, request));
  }
  CachedDocument document{.doc_id = StrCat(doc_id)};
  document.url = std::move(*summary.mutable_url());
  document.title = std::move(*summary.mutable_title());
  document.site = std::move(*summary.mutable_site());
  document.text = std::move(*summary.mutable_text());
  document.public_url = std::move(*summary.mutable_public_url());
  document.structure = std::move(*summary.mutable_structure());
  document.query = query;
  document.is_plain = is_plain;
  const docserver::TextRanges& matches = summary.query_matches();
  for (int i = 0; i < std::min(matches.begins_size(), matches.sizes_size()); ++i) {
    document.matches.push_back({matches.begins(i), matches.sizes(i)});
  }
  return document;
}

void SearchPlan::FinishInserts() {
  refreshes_.StartNoMore();
  const auto is_busy = [this] {
    return cache_.insert_count() > 0 || suggester_.insert_count() > 0 || spelling_count_ > 0 ||
           lookup_count_ > 0 || refreshes_.count() > 0;
  };
  neptune::Duration time_max = options_.spelling_timeout + 2 * options_.cache_insert_timeout;
  if (refreshes_.count() > 0) time_max += options_.SumOfSteps();
  const TimePoint end = neptune::this_thread::Now() + time_max;
  while (is_busy() && neptune::this_thread::Now() < end) {
    if (neptune::this_thread::SleepFor(kInsertPoll) == neptune::ParkResult::kStopping) return;
  }
}

}  // namespace search::frontend
