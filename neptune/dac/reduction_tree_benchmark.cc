// What forming a tree costs: the bounds are 20 us for 64 servers and 200 us for 512.

#include <benchmark/benchmark.h>

#include <vector>

#include "neptune/dac/reduction_tree.h"

namespace neptune {
namespace {

constexpr Duration kReduce = std::chrono::microseconds(100);

// Loads that deviate by `reductions` tenths of a reduction: the fewer, the more of step 4.
std::vector<TreeServer> Servers(int64_t count, int64_t reductions, RandomSource& random) {
  std::vector<TreeServer> servers;
  for (int64_t i = 0; i < count; ++i) {
    const double load =
        random.Exponential(static_cast<double>(1 + reductions * kReduce.count() / 10));
    servers.push_back({Duration(static_cast<int64_t>(load)), 5 * kReduce, kReduce});
  }
  return servers;
}

void BM_FormTree(benchmark::State& state, TreeScheme scheme) {
  RandomSource random(1);
  const std::vector<TreeServer> servers = Servers(state.range(0), state.range(1), random);
  for (auto _ : state) {
    benchmark::DoNotOptimize(FormTree(scheme, servers, random));
  }
}
BENCHMARK_CAPTURE(BM_FormTree, lat, TreeScheme::kLoadAdaptive)
    ->ArgNames({"servers", "deviation"})
    ->ArgsProduct({{8, 64, 512}, {0, 5, 50}});
BENCHMARK_CAPTURE(BM_FormTree, binomial, TreeScheme::kBinomial)->ArgsProduct({{8, 64, 512}, {0}});
BENCHMARK_CAPTURE(BM_FormTree, flat, TreeScheme::kFlat)->ArgsProduct({{8, 64, 512}, {0}});

}  // namespace
}  // namespace neptune

BENCHMARK_MAIN();
