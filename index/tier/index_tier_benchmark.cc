// Measures searches for ten hits in one partition of 20,000 random documents, for each tier.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "index/tier/registry.h"

namespace search::index {
namespace {

constexpr uint64_t kDocumentCount = 20000;
constexpr uint64_t kWordCount = 20000;

// Low numbers are common.
std::string RandomWord(std::mt19937_64& random) {
  uint64_t below = kWordCount;
  for (int i = 0; i < 3; ++i) below = 1 + random() % below;
  return "w" + std::to_string(below);
}

void Check(const neptune::Status& status) {
  if (!status.ok()) std::abort();
}

IndexTier& Tier(const IndexTierVariant& variant) {
  // Never destroyed: RocksDB's own statics would be destroyed before it.
  static auto& tiers = *new std::map<std::string, std::unique_ptr<IndexTier>>;
  auto& tier = tiers[std::string(variant.name)];
  if (tier != nullptr) return *tier;
  TierBuilderOptions options;
  options.directory = (std::filesystem::temp_directory_path() /
                       ("index_tier_benchmark_" + std::string(variant.name)))
                          .string();
  std::filesystem::remove_all(options.directory);
  const auto builder = CreateTierBuilder(variant.name, options).value();
  std::mt19937_64 random(1);
  for (uint64_t id = 0; id < kDocumentCount; ++id) {
    std::string body;
    for (int i = 0; i < 200; ++i) body += RandomWord(random) + " ";
    IndexedDocument document;
    document.doc_id = id;
    document.body = body;
    Check(builder->Add(document));
  }
  Check(builder->Finish());
  Check(FinishTierCollection(variant.name, {options.directory}, TierCollectionOptions()));
  tier = OpenIndexTier(variant.name, options.directory).value();
  return *tier;
}

void TwoWords(benchmark::State& state, IndexTierVariant variant) {
  const IndexTier& tier = Tier(variant);
  std::mt19937_64 random(2);
  for (auto _ : state) {
    TierQuery tier_query;
    tier_query.set_query(RandomWord(random) + " " + RandomWord(random));
    tier_query.set_hit_count_max(10);
    auto answer = tier.Search(tier_query, {});
    if (!answer.ok()) state.SkipWithError("search failed");
    benchmark::DoNotOptimize(answer);
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(TwoWords, rocksdb_postings, RegisteredIndexTiers()[0]);
BENCHMARK_CAPTURE(TwoWords, segment, RegisteredIndexTiers()[1]);
BENCHMARK_CAPTURE(TwoWords, xapian, RegisteredIndexTiers()[2]);

}  // namespace
}  // namespace search::index
