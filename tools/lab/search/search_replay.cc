#include "tools/lab/search/search_replay.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "neptune/base/strings.h"
#include "tools/lab/search/refusal_cause.h"
#include "tools/lab/workloads/search_load.h"
#include "tools/replay/failover_target.h"
#include "tools/trace/trace_generator.h"

namespace search::lab {
namespace {

using neptune::Status;
using neptune::StatusOr;

constexpr double kTimeoutS = 2;
constexpr double kRepeatShare = 0.7;
constexpr size_t kQuestionCount = 20'000;
constexpr size_t kQuestionSizeMax = 12;
// The number of complete answers whose coverage is checked; all partial ones are.
constexpr size_t kLookedAtMax = 300;

// The range of the search for the sustainable rate, below the rate that would use all processors;
// the result is accurate to 7 %.
constexpr double kRateSpan = 64;
constexpr uint64_t kRateHalvings = 6;
constexpr char kCausePrefix[] = "failed: ";

// The header of a reload that bypasses all caches.
std::string HeadersOf(const SustainedLoad& how) {
  return how.past_caches ? "Cache-Control: no-cache\r\n" : "";
}

bool IsSustained(const SearchReplay::Measurements& measurements) {
  return LatencyQuantileS(measurements, 0.99) <= kSustainedP99S &&
         std::all_of(measurements.begin(), measurements.end(), [](const tools::Measurement& one) {
           return one.outcome == tools::Outcome::kAnswered;
         });
}

// Processor time of this process.
double OwnProcessorSeconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// Whether a replica of each missing partition was down at some time during the request.
bool IsExplained(const tools::Measurement& one, uint32_t missing, const Outage& outage) {
  const double due_s = neptune::ToSeconds(neptune::Duration(one.intended_ns));
  const double done_s = neptune::ToSeconds(neptune::Duration(one.done_ns));
  if (done_s < outage.begin_s || due_s > outage.end_s) return false;
  for (const std::string& node : outage.nodes) {
    for (const uint32_t p : SearchProcesses::PartitionsOf(node)) missing &= ~(1u << p);
  }
  return missing == 0;
}

}  // namespace

StatusOr<tools::ReplayPlan> DemandingReplay(double rate, double length_s, uint64_t seed) {
  static const auto questions = DemandingQuestions(kQuestionCount, kQuestionSizeMax);
  tools::TraceProfile profile;
  profile.set_duration_s(length_s);
  profile.set_gap_mean_ms(1e3 / rate);
  profile.set_repeat_share(kRepeatShare);
  profile.set_zipf_exponent(0.8);
  for (const auto& [name, share] :
       {std::pair{"gold", 0.1}, std::pair{"silver", 0.3}, std::pair{"bronze", 0.6}}) {
    auto* const one = profile.add_classes();
    one->set_name(name);
    one->set_share(share);
  }
  std::vector<tools::TraceRecord> trace;
  NEPTUNE_RETURN_IF_ERROR(
      tools::GenerateTrace(profile, questions, seed, [&](const tools::TraceRecord& record) {
        trace.push_back(record);
        return neptune::OkStatus();
      }).status());
  return tools::MakeReplayPlan(trace, {});
}

StatusOr<double> SearchReplay::Capacity(double length_s, uint64_t seed) {
  return ProcessorRate({.length_s = length_s, .seed = seed});
}

StatusOr<double> SearchReplay::ProcessorRate(const SustainedLoad& how) {
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::Duration cost,
                           index_.CostOf(DemandingQuestions(5, kQuestionSizeMax)));
  const double asked_share = how.past_caches ? 1 : 1 - kRepeatShare;
  const double index_can = kSearchProcessors / neptune::ToSeconds(cost) / asked_share;
  NEPTUNE_ASSIGN_OR_RETURN(tools::ReplayPlan plan,
                           DemandingReplay(0.1 * index_can, how.length_s, how.seed));
  const double before_s = search_.ProcessorSeconds() + OwnProcessorSeconds();
  NEPTUNE_ASSIGN_OR_RETURN(const Measurements all, Ask(std::move(plan), {}, HeadersOf(how)));
  const double used_s = search_.ProcessorSeconds() + OwnProcessorSeconds() - before_s;
  return kSearchProcessors * static_cast<double>(all.size()) / used_s;
}

StatusOr<double> SearchReplay::SustainableRate(const SustainedLoad& how) {
  NEPTUNE_ASSIGN_OR_RETURN(double above, ProcessorRate(how));
  if (how.is_estimate) return above;
  NEPTUNE_ASSIGN_OR_RETURN(const bool is_whole_sustained, Sustains(above, how, 0));
  if (is_whole_sustained) return above;
  const double least = above / kRateSpan;
  double below = least;
  for (uint64_t tried = 1; tried <= kRateHalvings; ++tried) {
    const double rate = std::sqrt(below * above);
    NEPTUNE_ASSIGN_OR_RETURN(const bool is_sustained, Sustains(rate, how, tried));
    (is_sustained ? below : above) = rate;
  }
  if (below > least) return below;
  return neptune::Unavailable("the search does not answer even ", above,
                              " queries a second in time");
}

StatusOr<bool> SearchReplay::Sustains(double rate, const SustainedLoad& how, uint64_t tried) {
  NEPTUNE_ASSIGN_OR_RETURN(tools::ReplayPlan plan,
                           DemandingReplay(rate, how.length_s, how.seed + 1 + tried));
  NEPTUNE_ASSIGN_OR_RETURN(const Measurements all, Ask(std::move(plan), {}, HeadersOf(how)));
  return IsSustained(DueIn(all, how.length_s / 3, how.length_s));
}

StatusOr<SearchReplay::Measurements> SearchReplay::Run(tools::ReplayPlan plan,
                                                       std::vector<TimedAction> actions) {
  return Ask(std::move(plan), std::move(actions), "");
}

StatusOr<SearchReplay::Measurements> SearchReplay::Ask(tools::ReplayPlan plan,
                                                       std::vector<TimedAction> actions,
                                                       std::string headers) {
  plan_ = std::move(plan);
  claims_.clear();
  refusals_.clear();
  PlannedLoad load{.plan = plan_, .timeout_s = kTimeoutS, .actions = std::move(actions)};
  load.make_target = [this, &headers](neptune::Loop& loop, const tools::ReplayPlan& planned) {
    tools::FailoverOptions options;
    options.http.servers = search_.http_endpoints();
    options.http.headers = headers;
    options.http.on_refusal = [this](uint32_t request, int status, std::string_view body) {
      refusals_[request] = RefusalCause(status, body);
    };
    options.http.on_answer = [this](uint32_t request, std::string_view body) {
      if (const auto claim = ReadCoverageClaim(body)) claims_[request] = *claim;
    };
    return std::make_unique<tools::FailoverTarget>(loop, planned, options);
  };
  StatusOr<Measurements> measurements = Measurements();
  search_.RunAsClient([&] { measurements = RunPlannedLoad(load); });
  return measurements;
}

StatusOr<CoverageCounts> SearchReplay::CountCoverage(const Measurements& measurements,
                                                     const Outage& outage) const {
  std::map<uint64_t, CoverageLedger> ledgers;
  for (const SyntheticIndex* const index : {&index_, other_}) {
    if (index == nullptr) continue;
    NEPTUNE_ASSIGN_OR_RETURN(CoverageLedger ledger, CoverageLedger::Open(*index));
    ledgers.emplace(index->index_version(), std::move(ledger));
  }
  const size_t stride = std::max<size_t>(1, measurements.size() / kLookedAtMax);
  CoverageCounts counts;
  for (const tools::Measurement& one : measurements) {
    const auto entry = claims_.find(one.request);
    if (one.outcome != tools::Outcome::kAnswered || entry == claims_.end()) continue;
    const CoverageClaim& claim = entry->second;
    counts.quality_mean += one.quality;
    const bool is_partial = claim.missing != 0;
    if (!is_partial && one.request % stride != 0) continue;
    const std::string& question = plan_.queries[plan_.requests[one.request].query];
    const auto ledger = ledgers.find(claim.index_version);
    bool is_true = false;
    if (ledger != ledgers.end()) {
      NEPTUNE_ASSIGN_OR_RETURN(is_true, ledger->second.IsTrue(question, claim));
    }
    ++counts.looked_at;
    counts.untrue += !is_true;
    counts.partial += is_partial;
    counts.unexplained += is_partial && !IsExplained(one, claim.missing, outage);
  }
  counts.different = CountDifferent(measurements);
  counts.quality_mean /= std::max(1.0, static_cast<double>(claims_.size()));
  return counts;
}

Status SearchReplay::AddCoverage(const Measurements& measurements, const Outage& outage,
                                 Measurement* measured) const {
  NEPTUNE_ASSIGN_OR_RETURN(const CoverageCounts counts, CountCoverage(measurements, outage));
  const double percent = 100 / std::max(1.0, static_cast<double>(measurements.size()));
  (*measured)["untrue_count"] = counts.untrue;
  (*measured)["looked_at_count"] = counts.looked_at;
  (*measured)["different_count"] = counts.different;
  (*measured)["partial_percent"] = percent * counts.partial;
  (*measured)["unexplained_percent"] = percent * counts.unexplained;
  (*measured)["quality_mean"] = counts.quality_mean;
  return neptune::OkStatus();
}

void SearchReplay::AddFailureCauses(const Measurements& measurements, Measurement* measured) const {
  for (const tools::Measurement& one : measurements) {
    if (one.outcome == tools::Outcome::kAnswered) continue;
    const auto refusal = refusals_.find(one.request);
    ++(*measured)[kCausePrefix + (refusal == refusals_.end()
                                      ? std::string(tools::OutcomeName(one.outcome))
                                      : refusal->second)];
  }
}

double SearchReplay::CountDifferent(const Measurements& measurements) const {
  std::map<std::pair<uint64_t, uint32_t>, const std::string*> known;  // by version and question
  double count = 0;
  for (const tools::Measurement& one : measurements) {
    const auto entry = claims_.find(one.request);
    if (one.outcome != tools::Outcome::kAnswered || entry == claims_.end()) continue;
    const CoverageClaim& claim = entry->second;
    if (claim.partial) continue;
    const bool is_known_version =
        claim.index_version == index_.index_version() ||
        (other_ != nullptr && claim.index_version == other_->index_version());
    const auto [first, is_first] = known.emplace(
        std::pair(claim.index_version, plan_.requests[one.request].query), &claim.results);
    count += !is_known_version || *first->second != claim.results;
  }
  return count;
}

void JudgeAnswers(const Results& results, const Point& point, const std::string& name,
                  double failed_percent_max, Judgement* judgement) {
  judgement->AtMost("queries that fail" + name, "", results.Mean(point, "failed_percent"),
                    failed_percent_max, "%");
  judgement
      ->AtMost("answers with wrong coverage" + name, "", results.Largest(point, "untrue_count"), 0,
               "")
      .Shape();
  std::map<std::string, double> counts;
  for (const Measurement& run : results.Of(point)) {
    for (const auto& [metric, value] : run) {
      if (metric.starts_with(kCausePrefix)) counts[metric] += value;
    }
  }
  for (const auto& [cause, count] : counts) {
    judgement->Note(neptune::StrCat(cause, name, ": ", count, " queries"));
  }
}

}  // namespace search::lab
