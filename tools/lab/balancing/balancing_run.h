// One run of chapter 3's set-up: 16 servers, 6 clients, one policy. What all lb_ experiments share.
//
// Source: [Shen02] 3.4 (16 servers, up to 6 clients). Threads: pure functions.

#pragma once

#include <string>

#include "tools/lab/engine/experiment.h"
#include "tools/lab/kit/sim_cluster.h"
#include "tools/workload/workloads.h"

namespace search::lab {

struct BalancingRun {
  workload::Workload workload = workload::PoissonExp(50);
  // Of what the servers can do, slower ones counted as such.
  double load = 0.9;
  // "random", "round_robin", "broadcast", "poll 3", "probe_pool", "ideal".
  std::string policy = "poll 3";
  SimClusterOptions cluster{};
  uint64_t warm_up_count = 0;
  uint64_t count = 0;
  // On kernel threads and real sockets, where "ideal" and a model of slow polls do not exist.
  WorldKind world = WorldKind::kSim;
};

// response_ms_mean, response_ms_p99, loss_percent.
// Errors: as RunRealLoad; none in the simulated world.
neptune::StatusOr<Measurement> MeasureBalancing(BalancingRun run, uint64_t seed);

// The policy as cluster options.
void SetPolicy(const std::string& policy, SimClusterOptions* options);

}  // namespace search::lab
