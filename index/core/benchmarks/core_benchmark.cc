// Measures the parts: unpacking, posting cursors, term look-up, queries.

#include <benchmark/benchmark.h>

#include <random>

#include "index/core/segment/bit_packing.h"
#include "index/core/segment/posting_cursor.h"
#include "index/core/segment/segment_reader.h"
#include "index/core/testing/collection.h"

namespace search::index {
namespace {

void BM_Unpack(benchmark::State& state) {
  const auto count = static_cast<uint32_t>(state.range(0));
  const auto bits = static_cast<uint32_t>(state.range(1));
  std::mt19937 rng(1);
  std::array<uint32_t, kPackedCountMax> values;
  for (uint32_t& value : values) value = static_cast<uint32_t>(rng()) >> (32 - bits);
  std::string packed;
  Pack(values.data(), count, bits, &packed);
  for (auto _ : state) {
    Unpack(packed.data(), count, bits, values.data());
    benchmark::DoNotOptimize(values);
  }
  state.SetItemsProcessed(state.iterations() * count);
}
BENCHMARK(BM_Unpack)->ArgsProduct({{128}, {1, 4, 7, 12, 20}})->Args({100, 7});

void BM_GapsToOrdinals(benchmark::State& state) {
  std::array<uint32_t, kPackedCountMax> values;
  for (auto _ : state) {
    values.fill(3);
    GapsToOrdinals(0, kPackedCountMax, values.data());
    benchmark::DoNotOptimize(values);
  }
  state.SetItemsProcessed(state.iterations() * kPackedCountMax);
}
BENCHMARK(BM_GapsToOrdinals);

const TestCollection& Collection() {
  static const auto* collection = TestCollection::Build(ZipfDocuments(50'000, 1), {})->release();
  return *collection;
}

void BM_WalkPostings(benchmark::State& state) {
  const Segment& segment = Collection().segment(0);
  const TermEntry entry = **segment.terms().Find("w" + std::to_string(state.range(0)));
  for (auto _ : state) {
    PostingCursor cursor(segment.postings(), entry, segment.document_count());
    uint64_t sum = 0;
    while (cursor.Next() != kNoDocument) sum += cursor.frequency(Field::kBody);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * entry.document_frequency);
}
BENCHMARK(BM_WalkPostings)->Arg(0)->Arg(30)->Arg(2000);

void BM_FindTerm(benchmark::State& state) {
  const Segment& segment = Collection().segment(0);
  uint64_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(segment.terms().Find("w" + std::to_string(i++ * 7 % 3000)));
  }
}
BENCHMARK(BM_FindTerm);

void BM_TopTen(benchmark::State& state, const char* text) {
  const Query query = *ParseQuery(text);
  for (auto _ : state) {
    benchmark::DoNotOptimize(Collection().searcher(0).Search(query, {}));
  }
}
BENCHMARK_CAPTURE(BM_TopTen, any_of, "w10 OR w100 OR w300");
BENCHMARK_CAPTURE(BM_TopTen, all_of, "w10 w100");
BENCHMARK_CAPTURE(BM_TopTen, phrase, "\"w10 w20\"");
BENCHMARK_CAPTURE(BM_TopTen, one_word, "w10");
BENCHMARK_CAPTURE(BM_TopTen, near, "w10 NEAR/5 w20");

// What is not pruned: all matches by site, and the newest of all matches.
void BM_CountSites(benchmark::State& state, const char* text) {
  const Query query = *ParseQuery(text);
  for (auto _ : state) {
    benchmark::DoNotOptimize(Collection().searcher(0).CountSites(query, {}));
  }
}
BENCHMARK_CAPTURE(BM_CountSites, any_of, "w10 OR w100 OR w300");
BENCHMARK_CAPTURE(BM_CountSites, all_of, "w10 w100");

void BM_TopTenByDate(benchmark::State& state, const char* text) {
  const Query query = *ParseQuery(text);
  for (auto _ : state) {
    benchmark::DoNotOptimize(Collection().searcher(0).Search(query, {.by_date = true}));
  }
}
BENCHMARK_CAPTURE(BM_TopTenByDate, any_of, "w10 OR w100 OR w300");

}  // namespace
}  // namespace search::index
