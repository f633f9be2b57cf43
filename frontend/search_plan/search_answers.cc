// The sources of answers other than the servers: cache, an equal search under way, a former index.

#include <utility>

#include "frontend/search_plan/cached_form.h"
#include "frontend/search_plan/search_plan.h"
#include "frontend/search_plan/search_progress.h"
#include "frontend/search_plan/search_steps.h"
#include "neptune/base/strings.h"
#include "neptune/thread/user_thread.h"

namespace search::frontend {
namespace {

using neptune::ClientSession;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using neptune::TimePoint;

constexpr char kFormerIndexNote[] =
    "The index was replaced a moment ago: these results are those of the former one. Results of "
    "the "
    "new one are being computed.";

// Equal questions of one class are computed once. Those of another class wait for none of this one,
// which may stand in a slower queue.
std::string FlightOf(const SearchOrder& order, const CacheEntryName& entry) {
  return StrCat(order.class_number, " ", entry.index_version, " ", entry.key);
}

}  // namespace

bool SearchPlan::AnswerFromCache(ClientSession& session, bool may_use_cache, Progress* progress) {
  CacheReply reply;
  if (may_use_cache) {
    const Step step("cache", StepKind::kWait, progress->received, progress->answer);
    const StepTimer timer(metrics_.cache_time);
    reply = cache_.Lookup(session, progress->entry, progress->LookupEnd(options_));
  }
  return AdoptReply(session, std::move(reply), progress);
}

bool SearchPlan::AdoptReply(ClientSession& session, CacheReply reply, Progress* progress) {
  // An entry that cannot be parsed or is not valid any more counts as a miss.
  if (reply.use.outcome == CacheUse::Outcome::kHit && !AdoptCached(reply, progress)) {
    reply.use.outcome = CacheUse::Outcome::kMiss;
  }
  progress->answer->coverage.cache = reply.use;
  metrics_.ForLookup(reply.use.outcome).Increment();
  const bool is_hit = reply.use.outcome == CacheUse::Outcome::kHit;
  if (is_hit || reply.use.outcome == CacheUse::Outcome::kMiss) {
    overlap_.Record(progress->reading.words.size(), is_hit);
  }
  // The age of a copy begins again at 0, so what lives for a moment is not copied.
  if (is_hit && reply.lacking && IsWhole(*progress->answer)) {
    cache_.Refill(session, progress->entry, reply, CacheLife(*progress->answer, options_));
  }
  return is_hit;
}

// Computes the answer while the cache looks for it; what the cache has ends the computation.
Status SearchPlan::ComputeMeanwhile(ClientSession& session, const SearchOrder& order,
                                    Progress* progress) {
  const TimePoint begin = neptune::this_thread::Now();
  SearchAnswer answer = *progress->answer;
  Progress computing = *progress;
  computing.answer = &answer;
  computing.lookup = CacheLookup::Start({cache_, metrics_.cache_time, &lookup_count_}, session,
                                        progress->entry, progress->LookupEnd(options_));
  ClientSession own = computing.lookup->SearchSession(session);
  Status status = ComputeOnce(own, order, &computing);
  const std::optional<CacheReply> reply = computing.lookup->Reply();
  const bool is_hit = reply && reply->use.outcome == CacheUse::Outcome::kHit;
  const bool is_wasted = !status.ok() && is_hit && !IsGone(session);
  overlap_.End(is_wasted);
  if (is_wasted) {
    metrics_.overlap_wasted->Increment();
    progress->answer->steps.push_back({"cache", StepKind::kWait, begin - order.received,
                                       neptune::this_thread::Now() - order.received});
    if (AdoptReply(session, *reply, progress)) return neptune::OkStatus();
    return ComputeOnce(session, order, progress);  // the entry is not valid any more
  }
  metrics_.overlap_used->Increment();
  const CacheUse use = UseOf(reply);
  const bool is_joined = answer.coverage.cache.is_joined;
  answer.coverage.cache = use;
  answer.coverage.cache.is_joined = is_joined;
  metrics_.ForLookup(use.outcome).Increment();
  const bool is_known = is_hit || use.outcome == CacheUse::Outcome::kMiss;
  if (is_known) overlap_.Record(progress->reading.words.size(), is_hit);
  *progress->answer = std::move(answer);
  progress->Adopt(std::move(computing));
  return status;
}

// Returns false and leaves the answer unchanged if the cached one must not be used.
bool SearchPlan::AdoptCached(const CacheReply& reply, Progress* progress) {
  SearchAnswer cached = *progress->answer;
  if (!FromCachedForm(reply.value, &cached).ok()) return false;
  if (reply.use.age >= CacheLife(cached, options_)) return false;
  if (!index_watch_.MayGive(cached.index_epoch, reply.use.age)) return false;
  return AdoptFound(std::move(cached), progress);
}

// Takes over an answer that was computed for an equal question, whose words may be typed otherwise.
// Returns false and leaves the answer unchanged if the question cannot be read as the answer was.
bool SearchPlan::AdoptFound(SearchAnswer found, Progress* progress) const {
  const bool is_relaxed = !found.unmet_demands.empty();
  if (found.corrected_query.empty() && !is_relaxed) {
    *progress->answer = std::move(found);
    return true;
  }
  Progress corrected = *progress;
  corrected.answer = &found;
  const QuestionText searched = {.text = found.searched_query(),
                                 .is_plain = progress->question.is_plain,
                                 .is_relaxed = is_relaxed};
  if (!Interpret(searched, &corrected).ok()) return false;
  if (is_relaxed && found.unmet_demands.empty()) return false;
  found.notes.insert(found.notes.end(), found.index_notes.begin(), found.index_notes.end());
  *progress->answer = std::move(found);
  progress->Adopt(std::move(corrected));
  return true;
}

// Right after a switch: the answer that the cache has of the former index, which says so, while
// that of the current one is computed.
bool SearchPlan::AnswerOfFormerIndex(ClientSession& session, const SearchOrder& order,
                                     Progress* progress) {
  const std::optional<AskedIndex> former = asked_.FormerAt(neptune::this_thread::Now());
  if (!former.has_value() || order.index) return false;
  SearchAnswer answer = *progress->answer;
  Progress earlier = *progress;
  earlier.answer = &answer;
  earlier.asked = *former;
  if (!Interpret({.text = order.query, .is_plain = order.is_plain}, &earlier).ok()) return false;
  earlier.NameEntry(VariantOf(order), options_);
  const CacheReply reply = [&] {
    const Step step("cache, former index", StepKind::kWait, order.received, &answer);
    return cache_.Lookup(session, earlier.entry, progress->LookupEnd(options_));
  }();
  if (reply.use.outcome != CacheUse::Outcome::kHit || !AdoptCached(reply, &earlier)) return false;
  if (!IsWhole(answer)) return false;
  answer.coverage.cache = reply.use;
  answer.coverage.cache.newer_version = progress->asked.version;
  answer.notes.emplace_back(kFormerIndexNote);
  const std::string flight = FlightOf(order, progress->entry);
  *progress->answer = std::move(answer);
  earlier.answer = progress->answer;
  *progress = std::move(earlier);
  metrics_.stale_answers->Increment();
  RefreshLater(order, flight);
  return true;
}

void SearchPlan::RefreshLater(const SearchOrder& order, const std::string& flight) {
  if (flights_.IsUnderWay(flight)) return;
  refreshes_.Start([this, refresh = order]() mutable {
    if (gate_.waiting() > 0) return neptune::ResourceExhausted("users' searches wait");
    refresh.may_be_stale = false;
    refresh.trace.sampled = false;
    refresh.timeout = neptune::Duration(0);
    refresh.call = nullptr;
    refresh.received = neptune::this_thread::Now();
    SearchAnswer answer;
    answer.query = refresh.query;
    return Run(refresh, &answer);
  });
}

StatusOr<bool> SearchPlan::Prepare(const SearchOrder& order) {
  SearchAnswer answer;
  answer.query = order.query;
  NEPTUNE_RETURN_IF_ERROR(Run(order, &answer));
  if (!IsWhole(answer)) return neptune::Unavailable("the answer is partial");
  return answer.coverage.cache.outcome == CacheUse::Outcome::kHit;
}

Status SearchPlan::ComputeOnce(ClientSession& session, const SearchOrder& order,
                               Progress* progress) {
  const TimePoint begin = neptune::this_thread::Now();
  auto seat =
      flights_.Board(FlightOf(order, progress->entry), progress->budget.deadline(), order.call);
  if (seat.has_waited()) {
    progress->answer->steps.push_back({"equal search", StepKind::kWait, begin - order.received,
                                       neptune::this_thread::Now() - order.received});
  }
  switch (seat.role()) {
    case FlightRole::kLanded:
      NEPTUNE_RETURN_IF_ERROR(seat.value().status);
      if (AdoptLanded(seat.value().answer, progress)) return neptune::OkStatus();
      return ComputeAndRemember(session, order, progress);
    case FlightRole::kLate:
      return neptune::DeadlineExceeded("the answer to an equal question did not come in time");
    case FlightRole::kGone:
      return neptune::Cancelled("the client is gone");
    case FlightRole::kStopped:
      return neptune::Unavailable("the node stops");
    case FlightRole::kFull:
      return ComputeAndRemember(session, order, progress);
    case FlightRole::kLeads:
      break;
  }
  if (seat.has_waited()) metrics_.taken_over->Increment();
  // A search that something else than its client may end leaves it to others to begin again.
  const bool is_shared = session.caller() == order.call.get();
  ClientSession own = is_shared ? session.EndedBy(seat.call()) : session;
  const Status status = ComputeAndRemember(own, order, progress);
  // A question that is wrong is wrong for all; other failures may be those of this search alone.
  if (status.ok() || status.code() == neptune::StatusCode::kInvalidArgument) {
    seat.Land([&] { return Landed{status, *progress->answer}; });
  }
  // Others may have wanted the answer when the client had left.
  return status.ok() ? CheckClient(session) : status;
}

bool SearchPlan::AdoptLanded(const SearchAnswer& landed, Progress* progress) const {
  SearchAnswer answer = *progress->answer;
  AdoptComputed(landed, &answer);
  answer.coverage.cache.is_joined = true;
  if (!AdoptFound(std::move(answer), progress)) return false;
  metrics_.joined->Increment();
  return true;
}

bool SearchPlan::MayRepeat(const PageFacts& page, TimePoint now) const {
  if (now >= page.expires_at) return false;
  // A version that is asked for by its number does not change.
  if (const uint64_t asked = AskedVersion(); asked != 0) return page.for_version == asked;
  return index_watch_.MayRepeat({.version = page.for_version, .epoch = page.index_epoch},
                                now - page.computed_at, now);
}

}  // namespace search::frontend
