// What it costs to render one answer of ten results in each format, and to compress it. BM_JsonTree
// is the JSON of before, which was built as a tree and printed with blanks.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "frontend/render/json/answer_tree.h"
#include "frontend/render/render.h"
#include "frontend/render/samples/samples.h"
#include "neptune/wire/http/content_coding.h"

namespace search::frontend {
namespace {

SearchAnswer TenResults() {
  SearchAnswer answer = samples::CompleteAnswer();
  const std::vector<SearchResult> five = answer.results;
  for (const SearchResult& result : five) {
    answer.results.push_back(result);
    answer.results.back().doc_id += "7";
    answer.results.back().title += " II";
  }
  return answer;
}

void Report(benchmark::State& state, size_t size) {
  state.counters["bytes"] = static_cast<double>(size);
}

void BM_JsonTree(benchmark::State& state) {
  const SearchAnswer answer = TenResults();
  size_t size = 0;
  for (auto _ : state) {
    size = json::AnswerTree(answer).dump(1).size();
    benchmark::DoNotOptimize(size);
  }
  Report(state, size);
}
BENCHMARK(BM_JsonTree);

void BM_Render(benchmark::State& state, PageFormat format) {
  const SearchAnswer answer = TenResults();
  const Site site;
  size_t size = 0;
  for (auto _ : state) {
    const RenderedPage page = RenderAnswer(answer, format, site);
    size = page.body.size();
    benchmark::DoNotOptimize(page.body.data());
  }
  Report(state, size);
}
BENCHMARK_CAPTURE(BM_Render, json, PageFormat::kJson);
BENCHMARK_CAPTURE(BM_Render, html, PageFormat::kHtml);
BENCHMARK_CAPTURE(BM_Render, rss, PageFormat::kRss);

void BM_RenderStoredText(benchmark::State& state, PageFormat format) {
  CachedDocument document = samples::UsualDocument();
  while (document.text.size() < 100'000) document.text += document.text;
  size_t size = 0;
  for (auto _ : state) {
    const RenderedPage page = RenderCachedDocument(document, format, Site());
    size = page.body.size();
    benchmark::DoNotOptimize(page.body.data());
  }
  Report(state, size);
}
BENCHMARK_CAPTURE(BM_RenderStoredText, json, PageFormat::kJson);
BENCHMARK_CAPTURE(BM_RenderStoredText, html, PageFormat::kHtml);

void BM_Encode(benchmark::State& state, PageFormat format, neptune::ContentCoding coding) {
  const std::string body = RenderAnswer(TenResults(), format, Site()).body;
  size_t size = 0;
  for (auto _ : state) {
    size = neptune::EncodeBody(coding, body)->size();
    benchmark::DoNotOptimize(size);
  }
  Report(state, size);
}
BENCHMARK_CAPTURE(BM_Encode, json_gzip, PageFormat::kJson, neptune::ContentCoding::kGzip);
BENCHMARK_CAPTURE(BM_Encode, json_zstd, PageFormat::kJson, neptune::ContentCoding::kZstd);
BENCHMARK_CAPTURE(BM_Encode, html_gzip, PageFormat::kHtml, neptune::ContentCoding::kGzip);
BENCHMARK_CAPTURE(BM_Encode, html_zstd, PageFormat::kHtml, neptune::ContentCoding::kZstd);

}  // namespace
}  // namespace search::frontend
