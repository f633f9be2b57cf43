// One run of the set-up that all lb_ experiments share: 16 servers, 6 clients, one policy.
//
// Source: [Shen02] 3.4 (16 servers, up to 6 clients).
// Threads: pure functions.

#pragma once

#include <string>

#include "tools/lab/engine/experiment.h"
#include "tools/lab/kit/sim_cluster.h"
#include "tools/workload/workloads.h"

namespace search::lab {

struct BalancingRun {
  workload::Workload workload = workload::PoissonExp(50);
  // Share of the capacity of all servers, which accounts for slower ones.
  double load = 0.9;
  // "random", "round_robin", "broadcast", "poll 3", "probe_pool", "ideal".
  std::string policy = "poll 3";
  SimClusterOptions cluster{};
  uint64_t warm_up_count = 0;
  uint64_t count = 0;
  // kReal runs on kernel threads and real sockets, without "ideal" and without the model of slow
  // polls.
  WorldKind world = WorldKind::kSim;
};

// response_ms_mean, response_ms_p99, loss_percent.
// Errors: those of RunRealLoad; none in the simulated world.
neptune::StatusOr<Measurement> MeasureBalancing(BalancingRun run, uint64_t seed);

// Sets the options for a policy.
void SetPolicy(const std::string& policy, SimClusterOptions* options);

}  // namespace search::lab
