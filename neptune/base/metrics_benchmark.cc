#include <benchmark/benchmark.h>

#include "neptune/base/metrics.h"

namespace neptune {
namespace {

// All threads of a run use one counter, or one histogram.
void BM_CounterIncrement(benchmark::State& state) {
  static MetricsRegistry& registry = *new MetricsRegistry();
  static Counter* const counter = *registry.AddCounter("c_total", "C.");
  for (auto _ : state) counter->Increment();
}
BENCHMARK(BM_CounterIncrement)->ThreadRange(1, 16);

void BM_HistogramRecord(benchmark::State& state) {
  static MetricsRegistry& registry = *new MetricsRegistry();
  static HistogramMetric* const histogram = *registry.AddHistogram("h_seconds", "H.");
  uint64_t value = 1;
  for (auto _ : state) {
    value = value * 6364136223846793005u + 1442695040888963407u;
    histogram->Record(value >> 34);
  }
}
BENCHMARK(BM_HistogramRecord)->ThreadRange(1, 16);

void BM_TextOfThousandSeries(benchmark::State& state) {
  MetricsRegistry registry;
  for (int i = 0; i < 1000; ++i) {
    (void)*registry.AddCounter("c_total", "C.", {{"i", StrCat(i)}});
  }
  for (auto _ : state) benchmark::DoNotOptimize(registry.Text());
}
BENCHMARK(BM_TextOfThousandSeries);

}  // namespace
}  // namespace neptune

BENCHMARK_MAIN();
