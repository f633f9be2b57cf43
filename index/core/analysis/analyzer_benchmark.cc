// Measures the bytes of English text analyzed per second on one thread.
//
// ANALYZER_BENCHMARK_TEXT names a text file; by default the GPL is used, which every Debian system
// has and which has a smaller vocabulary than ordinary text.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "index/core/analysis/analyzer.h"

namespace search::index {
namespace {

const std::string& Text() {
  static const std::string* const text = [] {
    const char* named = std::getenv("ANALYZER_BENCHMARK_TEXT");
    std::ifstream in(named != nullptr ? named : "/usr/share/common-licenses/GPL-3");
    return new std::string(std::istreambuf_iterator<char>(in), {});
  }();
  return *text;
}

void Run(benchmark::State& state, const AnalyzerOptions& options) {
  const std::string& text = Text();
  if (text.empty()) {
    state.SkipWithError("no text to analyse");
    return;
  }
  Analyzer analyzer(options);
  std::vector<Token> tokens;
  for (auto _ : state) {
    analyzer.Analyze(text, &tokens);
    benchmark::DoNotOptimize(tokens.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
  state.counters["tokens"] = static_cast<double>(tokens.size());
}

void BM_Analyze(benchmark::State& state) { Run(state, {}); }
BENCHMARK(BM_Analyze);

void BM_AnalyzeWithoutStemCache(benchmark::State& state) { Run(state, {.stem_cache_size = 0}); }
BENCHMARK(BM_AnalyzeWithoutStemCache);

void BM_AnalyzeUnicodePath(benchmark::State& state) { Run(state, {.ascii_fast_path = false}); }
BENCHMARK(BM_AnalyzeUnicodePath);

void BM_AnalyzeQueryWord(benchmark::State& state) {
  for (auto _ : state) {
    Analyzer analyzer(AnalyzerOptions::ForQueries());
    benchmark::DoNotOptimize(analyzer.AnalyzeWord("std::vectors"));
  }
}
BENCHMARK(BM_AnalyzeQueryWord);

}  // namespace
}  // namespace search::index
