// Fetches ten random documents of about 4 KiB, as for a page of results, from each store.

#include <benchmark/benchmark.h>

#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "docserver/registry.h"

namespace search::docserver {
namespace {

constexpr uint64_t kDocumentCount = 20000;

StoredDocument MakeDocument(uint64_t id) {
  std::mt19937_64 random(id);
  StoredDocument document;
  document.set_doc_id(id);
  document.set_url("http://host/" + std::to_string(id));
  std::string text;
  while (text.size() < 4096) text += "word" + std::to_string(random() % 5000 * random() % 7) + " ";
  document.set_text(text);
  return document;
}

DocumentStore& SealedStore(const DocumentStoreVariant& variant) {
  // Never destroyed, because RocksDB's static objects would be destroyed first.
  static auto& stores = *new std::map<std::string, std::unique_ptr<DocumentStore>>;
  auto& store = stores[std::string(variant.name)];
  if (store != nullptr) return *store;
  const auto directory = std::filesystem::temp_directory_path() /
                         ("document_store_benchmark_" + std::string(variant.name));
  std::filesystem::remove_all(directory);
  DocumentStoreOptions options;
  options.mode = DocumentStoreOptions::Mode::kBuild;
  store = variant.open(directory.string(), options).value();
  for (uint64_t id = 0; id < kDocumentCount; ++id) {
    const StoredDocument document = MakeDocument(id);
    if (!store->Put(std::span(&document, 1)).ok()) std::abort();
  }
  if (!store->Seal().ok()) std::abort();
  return *store;
}

void FetchTen(benchmark::State& state, DocumentStoreVariant variant) {
  DocumentStore& store = SealedStore(variant);
  std::mt19937_64 random(1);
  std::vector<uint64_t> ids(10);
  for (auto _ : state) {
    for (uint64_t& id : ids) id = random() % kDocumentCount;
    auto fetched = store.Fetch(ids);
    if (!fetched.ok()) state.SkipWithError("fetch failed");
    benchmark::DoNotOptimize(fetched);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(ids.size()));
}

BENCHMARK_CAPTURE(FetchTen, flat_file, RegisteredDocumentStores()[0]);
BENCHMARK_CAPTURE(FetchTen, rocksdb, RegisteredDocumentStores()[1]);

}  // namespace
}  // namespace search::docserver
