// Cost of a decision; the limit is 1 us.

#include <benchmark/benchmark.h>

#include <vector>

#include "neptune/balancing/probe_pool.h"
#include "neptune/base/strings.h"

namespace neptune {
namespace {

// One call: choose, probes, answer, the probe's report.
void BM_Call(benchmark::State& state) {
  RandomSource random(1);
  ProbePool pool;
  std::vector<NodeId> servers;
  for (int64_t i = 0; i < state.range(0); ++i) servers.emplace_back(StrCat("s", 1000 + i));
  pool.SetServers(servers);
  TimePoint now{std::chrono::seconds(1)};
  for (auto _ : state) {
    now += std::chrono::microseconds(70);
    const size_t chosen = pool.Choose(now, {}, random);
    for (const size_t probed : pool.ChooseProbes(random)) {
      pool.OnReport(probed, {static_cast<uint32_t>(random.Below(4)), Duration(0)}, now);
    }
    pool.OnAnswer(chosen, 2, std::chrono::milliseconds(1), true, now);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Call)->Arg(3)->Arg(16)->Arg(1024);

}  // namespace
}  // namespace neptune

BENCHMARK_MAIN();
