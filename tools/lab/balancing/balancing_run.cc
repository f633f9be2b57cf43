#include "tools/lab/balancing/balancing_run.h"

#include "tools/lab/kit/real_load.h"

namespace search::lab {

void SetPolicy(const std::string& policy, SimClusterOptions* options) {
  constexpr std::string_view kPoll = "poll ";
  if (!policy.starts_with(kPoll)) {
    options->balancing = policy;
    return;
  }
  options->balancing = "poll";
  options->poll_size = static_cast<uint32_t>(std::stoi(policy.substr(kPoll.size())));
}

namespace {

neptune::StatusOr<SimLoadResult> RunIn(WorldKind world, const SimClusterOptions& options,
                                       const SimLoadOptions& load, uint64_t seed) {
  if (world == WorldKind::kReal) return RunRealLoad(options, load, seed);
  SimCluster cluster(options);
  return RunLoad(cluster, load, seed);
}

}  // namespace

neptune::StatusOr<Measurement> MeasureBalancing(BalancingRun run, uint64_t seed) {
  SetPolicy(run.policy, &run.cluster);
  run.cluster.seed = seed;
  double capacity = run.cluster.server_count;
  for (const auto& [server, factor] : run.cluster.slowness) capacity -= 1 - 1 / factor;
  SimLoadOptions load;
  load.gap_ms = run.workload.GapFor(run.load, capacity);
  load.service_ms = run.workload.classes.front().service;
  load.warm_up_count = run.warm_up_count;
  load.count = run.count;
  NEPTUNE_ASSIGN_OR_RETURN(const SimLoadResult result, RunIn(run.world, run.cluster, load, seed));
  return Measurement{{"response_ms_mean", result.MeanMs()},
                     {"response_ms_p99", result.PercentileMs(0.99)},
                     {"loss_percent", result.LossPercent()}};
}

}  // namespace search::lab
