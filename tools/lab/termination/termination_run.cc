#include "tools/lab/termination/termination_run.h"

#include <glog/logging.h>

#include <charconv>
#include <cmath>

#include "neptune/base/strings.h"
#include "tools/workload/workloads.h"

namespace search::lab {
namespace {

using neptune::StrCat;

constexpr double kSliceMs = 1;
constexpr auto kDeadline = std::chrono::seconds(5);
constexpr double kGoalMs = 1000;

// The number after the name of a scheme; 0 if the name is another one.
double AmountOf(const std::string& scheme, const std::string& name) {
  if (scheme.rfind(name, 0) != 0) return 0;
  double amount = 0;
  std::from_chars(scheme.data() + name.size(), scheme.data() + scheme.size(), amount);
  return amount;
}

std::string TimeLimit(double lower_ms, double upper_ms) {
  return StrCat("lower_bound_ms: ", std::llround(lower_ms),
                " upper_bound_ms: ", std::llround(upper_ms));
}

void SetScheme(const TerminationRun& run, SimClusterOptions* cluster, SimLoadOptions* load) {
  const std::string& scheme = run.scheme;
  if (const double length = AmountOf(scheme, "queue "); length > 0) {
    cluster->queue_length_max = static_cast<uint32_t>(length);
  } else if (const double target = AmountOf(scheme, "response "); target > 0) {
    load->admission = ResponseAdmission{.target = neptune::FromSeconds(target / 1000)};
  } else if (const double limit = AmountOf(scheme, "fixed "); limit > 0) {
    cluster->time_limit = StrCat(TimeLimit(limit, limit), kByLossAlone);
  } else if (scheme == "loss") {
    cluster->time_limit = StrCat(TimeLimit(run.lower_bound_ms, run.upper_bound_ms), kByLossAlone);
  } else if (scheme == "sert") {
    cluster->time_limit = TimeLimit(run.lower_bound_ms, run.upper_bound_ms);
  } else if (scheme == "relief") {
    cluster->time_limit =
        StrCat(TimeLimit(run.lower_bound_ms, run.upper_bound_ms), " ending_order: 'relief'");
  } else {
    CHECK(scheme == "none") << scheme;
  }
}

// 100 % if there are none.
double AnsweredPercent(const SimLoadResult& result) {
  return result.outcomes.empty() ? 100 : 100 - result.LossPercent();
}

Measurement Summary(const TerminationRun& run, const SimLoadResult& result) {
  SimLoadResult measured;
  SimLoadResult short_ones;
  SimLoadResult waiting;
  SimLoadResult long_ones;
  double in_time = 0;
  double ended = 0;
  for (const SimOutcome& one : result.outcomes) {
    const neptune::Duration at = one.arrived - result.began;
    if (at < run.from || at >= run.until) continue;
    measured.outcomes.push_back(one);
    const bool is_long = neptune::ToMillis(one.cost) >= run.long_ms;
    const bool waits = one.wait > neptune::Duration(0);
    (is_long ? long_ones : waits ? waiting : short_ones).outcomes.push_back(one);
    ended += one.status == neptune::StatusCode::kDeadlineExceeded;
    in_time += one.status == neptune::StatusCode::kOk && neptune::ToMillis(one.response) <= kGoalMs;
  }
  const auto offered = static_cast<double>(measured.outcomes.size());
  const double answered = offered * (1 - measured.LossPercent() / 100);
  const double seconds = neptune::ToSeconds(run.until - run.from);
  return {{"offered_per_s", offered / seconds},
          {"answered_per_s", answered / seconds},
          {"mean_ms", measured.MeanMs()},
          {"within_1s_percent", 100 * in_time / offered},
          {"short_percent", AnsweredPercent(short_ones)},
          {"short_p99_ms", short_ones.PercentileMs(0.99)},
          {"waiting_percent", AnsweredPercent(waiting)},
          {"long_percent", AnsweredPercent(long_ones)},
          {"ended_percent", 100 * ended / offered}};
}

}  // namespace

TerminationRun SizeDistributionShift(const std::string& scheme, neptune::Duration shift) {
  // 100 % demand: the highest rate at which 98 % finish within 2 s; here the queue is the limit.
  constexpr double kLoad = 0.98;
  constexpr auto kBefore = std::chrono::seconds(10);
  constexpr auto kAfter = std::chrono::seconds(5);
  const workload::Workload matching = *workload::FindWorkload("Index matching");
  LoadPhase usual;
  usual.until = kBefore;
  usual.gap_ms = matching.GapFor(kLoad, kTerminationProcessors);
  usual.service_ms = matching.classes.front().service;
  LoadPhase shifted = usual;
  shifted.until = kBefore + shift;
  shifted.other_share = 0.1;
  shifted.other_service_ms =
      workload::Distribution::Choice({{500, 0.5}, {750, 0.25}, {1000, 0.15}, {2000, 0.1}});
  LoadPhase after = usual;
  after.until = shifted.until + kAfter;
  TerminationRun run;
  run.scheme = scheme;
  run.phases = {usual, shifted, after};
  run.from = kBefore;
  run.until = shifted.until;
  return run;
}

TerminationRun LongAndWaiting(const std::string& scheme, neptune::Duration time) {
  constexpr double kLoad = 0.7;
  constexpr double kShortMs = 10;
  constexpr double kLongMs = 300;
  constexpr double kLongShare = 0.1;
  constexpr double kWaitMs = 300;
  constexpr double kMeanMs = kLongShare * kLongMs + (1 - kLongShare) * kShortMs;
  const auto from = std::chrono::seconds(5);
  TerminationRun run;
  run.scheme = scheme;
  run.from = from;
  run.until = from + time;
  run.long_ms = kLongMs;
  LoadPhase phase;
  phase.until = run.until;
  phase.gap_ms = workload::Distribution::Exponential(kMeanMs / (kLoad * kTerminationProcessors));
  phase.service_ms = workload::Distribution::Exponential(kShortMs);
  phase.other_share = kLongShare;
  phase.other_service_ms = workload::Distribution::Fixed(kLongMs);
  phase.waiting_share = 0.2;
  phase.wait_ms = workload::Distribution::Fixed(kWaitMs);
  run.phases = {phase};
  return run;
}

Measurement MeasureTermination(const TerminationRun& run, uint64_t seed) {
  SimClusterOptions cluster_options;
  cluster_options.seed = seed;
  cluster_options.server_count = 1;
  cluster_options.client_count = 2;
  cluster_options.balancing = "random";
  cluster_options.processors = {.count = static_cast<int>(kTerminationProcessors)};
  cluster_options.slice_ms = kSliceMs;
  SimLoadOptions load;
  load.phases = run.phases;
  load.timeout = kDeadline;
  SetScheme(run, &cluster_options, &load);
  SimCluster cluster(cluster_options);
  return Summary(run, RunLoad(cluster, load, seed));
}

}  // namespace search::lab
