// Time to make one snippet, by size of the page. The query's words are near the end of the page, so
// that all of it is scanned.

#include <benchmark/benchmark.h>

#include <cmath>
#include <random>

#include "docserver/snippet/snippet.h"

namespace search::docserver {
namespace {

// English-like text: words of a vocabulary of 20,000 by Zipf's law, sentences of 12 words.
std::string Page(size_t size) {
  std::mt19937_64 rng(43);
  std::vector<std::string> vocabulary;
  static const char* const kEndings[] = {"", "s", "ing", "ed", "er", "ation"};
  for (size_t i = 0; i < 20000; ++i) {
    std::string word;
    for (size_t n = 1 + rng() % 3; n > 0; --n) {
      word += "bcdfghklmnprst"[rng() % 14];
      word += "aeiou"[rng() % 5];
    }
    vocabulary.push_back(word + kEndings[rng() % 6]);
  }
  std::string text;
  for (size_t i = 1; text.size() < size; ++i) {
    const double u = static_cast<double>(rng() >> 11) * 0x1.0p-53;
    text += vocabulary[static_cast<size_t>(std::pow(20000.0, u)) - 1];
    text += i % 12 == 0 ? ". " : " ";
  }
  return text + "A foreign key constraint names a table. The end.";
}

void BM_Snippet(benchmark::State& state) {
  const std::string page = Page(static_cast<size_t>(state.range(0)) << 10);
  const auto query = index::ParseQuery("\"foreign key\" constraint table");
  const QueryTerms terms(*query);
  SnippetMaker maker;
  google::protobuf::RepeatedPtrField<SnippetPiece> pieces;
  for (auto _ : state) {
    maker.Make(page, terms, {}, &pieces);
    benchmark::DoNotOptimize(pieces);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * page.size()));
}
BENCHMARK(BM_Snippet)
    ->Arg(2)
    ->Arg(10)
    ->Arg(20)
    ->Arg(50)
    ->Arg(200)
    ->Arg(4096)
    ->Unit(benchmark::kMicrosecond);

void BM_SnippetOfFrequentWords(benchmark::State& state) {
  std::string page;
  while (page.size() < static_cast<size_t>(state.range(0)) << 10) page += "alpha beta gamma ";
  const auto query = index::ParseQuery("alpha beta gamma absent missing");
  const QueryTerms terms(*query);
  SnippetMaker maker;
  google::protobuf::RepeatedPtrField<SnippetPiece> pieces;
  for (auto _ : state) {
    maker.Make(page, terms, {}, &pieces);
    benchmark::DoNotOptimize(pieces);
  }
}
BENCHMARK(BM_SnippetOfFrequentWords)->Arg(50)->Arg(4096)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace search::docserver
