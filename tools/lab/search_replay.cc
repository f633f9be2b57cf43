#include "tools/lab/search_replay.h"

#include <time.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "tools/lab/search_load.h"
#include "tools/replay/failover_target.h"
#include "tools/trace/trace_generator.h"

namespace search::lab {
namespace {

using neptune::StatusOr;

constexpr double kTimeoutS = 2;
constexpr double kRepeatShare = 0.7;
constexpr size_t kQuestionCount = 20'000;
constexpr size_t kQuestionSizeMax = 12;
// Complete answers whose coverage the ledger looks at; of partial ones it looks at all.
constexpr size_t kLookedAtMax = 300;

// Of the client.
double OwnProcessorSeconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// Whether a replica of each missing partition was down at some time while the request was under way.
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
  NEPTUNE_ASSIGN_OR_RETURN(const neptune::Duration cost,
                           index_.CostOf(DemandingQuestions(5, kQuestionSizeMax)));
  const double index_can = kSearchProcessors / neptune::ToSeconds(cost) / (1 - kRepeatShare);
  NEPTUNE_ASSIGN_OR_RETURN(tools::ReplayPlan plan,
                           DemandingReplay(0.1 * index_can, length_s, seed));
  const double before_s = search_.ProcessorSeconds() + OwnProcessorSeconds();
  NEPTUNE_ASSIGN_OR_RETURN(const Measurements all, Run(std::move(plan), {}));
  const double used_s = search_.ProcessorSeconds() + OwnProcessorSeconds() - before_s;
  return kSearchProcessors * static_cast<double>(all.size()) / used_s;
}

StatusOr<SearchReplay::Measurements> SearchReplay::Run(tools::ReplayPlan plan,
                                                       std::vector<TimedAction> actions) {
  plan_ = std::move(plan);
  claims_.clear();
  PlannedLoad load{.plan = plan_, .timeout_s = kTimeoutS, .actions = std::move(actions)};
  load.make_target = [this](neptune::Loop& loop, const tools::ReplayPlan& planned) {
    tools::FailoverOptions options;
    options.http.servers = search_.http_endpoints();
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
  for (const MadeIndex* const index : {&index_, other_}) {
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

}  // namespace search::lab
