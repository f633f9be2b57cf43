// What the book costs for each server of an aggregation: an estimate, its costs, an assignment, a
// report.

#include <benchmark/benchmark.h>

#include <vector>

#include "neptune/base/strings.h"
#include "neptune/dac/load_estimator.h"

namespace neptune {
namespace {

class Fixture {
 public:
  explicit Fixture(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      nodes.emplace_back(StrCat("node-", i));
      book.OnReport(nodes.back(), service, load, start, LoadSource::kAnnouncement);
    }
  }
  const NodeId& Next() { return nodes[++used % nodes.size()]; }

  const ServiceName service{"search"};
  const ServerLoad load = {std::chrono::milliseconds(10), std::chrono::milliseconds(5),
                           std::chrono::microseconds(500)};
  const TimePoint start{std::chrono::seconds(1)};
  const TimePoint now = start + std::chrono::milliseconds(300);
  RandomSource random{1};
  LoadEstimator book;
  std::vector<NodeId> nodes;
  size_t used = 0;
};

void BM_Estimate(benchmark::State& state) {
  Fixture fixture(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        fixture.book.Estimate(fixture.Next(), fixture.service, fixture.now, fixture.random));
  }
}
BENCHMARK(BM_Estimate)->Arg(24)->Arg(512);

void BM_Costs(benchmark::State& state) {
  Fixture fixture(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(fixture.book.Costs(fixture.Next(), fixture.service));
  }
}
BENCHMARK(BM_Costs)->Arg(24)->Arg(512);

void BM_Assign(benchmark::State& state) {
  Fixture fixture(state.range(0));
  for (auto _ : state) fixture.book.OnAssigned(fixture.Next(), Duration(1000), fixture.now);
}
BENCHMARK(BM_Assign)->Arg(24)->Arg(512);

void BM_Report(benchmark::State& state) {
  Fixture fixture(state.range(0));
  for (auto _ : state) {
    fixture.book.OnReport(fixture.Next(), fixture.service, fixture.load, fixture.now,
                          LoadSource::kAnswer);
  }
}
BENCHMARK(BM_Report)->Arg(24)->Arg(512);

void BM_ChoosePollTargets(benchmark::State& state) {
  Fixture fixture(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        fixture.book.ChoosePollTargets(fixture.nodes, 3, fixture.now, fixture.random));
  }
}
BENCHMARK(BM_ChoosePollTargets)->Arg(24)->Arg(512);

}  // namespace
}  // namespace neptune

BENCHMARK_MAIN();
