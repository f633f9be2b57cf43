#include "tools/lab/balancing_run.h"

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

Measurement MeasureBalancing(BalancingRun run, uint64_t seed) {
  SetPolicy(run.policy, &run.cluster);
  run.cluster.seed = seed;
  double capacity = run.cluster.server_count;
  for (const auto& [server, factor] : run.cluster.slowness) capacity -= 1 - 1 / factor;
  SimCluster cluster(run.cluster);
  SimLoadOptions load;
  load.gap_ms = run.workload.GapFor(run.load, capacity);
  load.service_ms = run.workload.classes.front().service;
  load.warm_up_count = run.warm_up_count;
  load.count = run.count;
  const SimLoadResult result = RunLoad(cluster, load, seed);
  return {{"response_ms_mean", result.MeanMs()},
          {"response_ms_p99", result.PercentileMs(0.99)},
          {"loss_percent", result.LossPercent()}};
}

}  // namespace search::lab
