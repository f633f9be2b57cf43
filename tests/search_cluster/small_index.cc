#include "tests/search_cluster/small_index.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "docserver/document_service.h"
#include "docserver/registry.h"
#include "index/tier/registry.h"
#include "index/tier/titles/title_table.h"
#include "neptune/base/strings.h"

namespace search::tests {
namespace {

using docserver::StoredDocument;
using index::TestDocument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr char kPages[] = "tests/search_cluster/testdata/pages.jsonl";
constexpr char kSegment[] = "segment";
constexpr size_t kZipfCount = 400;
constexpr size_t kBuilderMemory = size_t{8} << 20;

void Append(TestDocument document, std::string url, SmallCorpus* corpus) {
  document.doc_id = corpus->documents.size();
  corpus->documents.push_back(std::move(document));
  corpus->urls.push_back(std::move(url));
}

void AppendPages(SmallCorpus* corpus) {
  std::ifstream in(kPages);
  for (std::string line; std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line);
    TestDocument document{
        .title = json.at("title"), .body = json.at("text"), .site = json.at("site")};
    document.static_rank = 1.0f / static_cast<float>(1 + corpus->documents.size());
    Append(std::move(document), json.at("url"), corpus);
  }
}

void AppendMade(std::vector<TestDocument> documents, const char* scheme, SmallCorpus* corpus) {
  for (TestDocument& document : documents) {
    if (corpus->documents.size() == kDocumentCountMax) return;
    std::string url = StrCat(scheme, document.site, "/", document.doc_id);
    Append(std::move(document), std::move(url), corpus);
  }
}

// A partition under construction and its documents.
struct Part {
  std::string folder;
  std::vector<size_t> positions;
};

Status BuildTierPart(const SmallCorpus& corpus, const std::string& implementation,
                     const Part& part) {
  NEPTUNE_ASSIGN_OR_RETURN(
      auto builder, index::CreateTierBuilder(implementation, {.directory = part.folder,
                                                              .memory_size_max = kBuilderMemory}));
  NEPTUNE_ASSIGN_OR_RETURN(const auto titles, index::TitleTableWriter::Create(part.folder));
  for (const size_t position : part.positions) {
    const TestDocument& document = corpus.documents[position];
    NEPTUNE_RETURN_IF_ERROR(builder->Add(document.View()));
    NEPTUNE_RETURN_IF_ERROR(titles->Add(
        document.doc_id,
        {.url = corpus.urls[position], .title = document.title, .site = document.site}));
  }
  NEPTUNE_RETURN_IF_ERROR(builder->Finish());
  return titles->Finish();
}

// Builds partitions that share their statistics; the first tier1_count are tier 1.
Status BuildCollection(const SmallCorpus& corpus, const std::string& implementation,
                       const std::vector<Part>& parts, size_t tier1_count) {
  std::vector<std::string> folders;
  for (const Part& part : parts) {
    NEPTUNE_RETURN_IF_ERROR(BuildTierPart(corpus, implementation, part));
    folders.push_back(part.folder);
  }
  return index::FinishTierCollection(
      implementation, folders, {.index_version = corpus.index_version, .tier1_count = tier1_count});
}

Status BuildStore(const SmallCorpus& corpus, const std::string& implementation, const Part& part) {
  docserver::DocumentStoreOptions options;
  options.mode = docserver::DocumentStoreOptions::Mode::kBuild;
  NEPTUNE_ASSIGN_OR_RETURN(auto store,
                           docserver::OpenDocumentStore(implementation, part.folder, options));
  std::vector<StoredDocument> batch;
  for (const size_t position : part.positions) {
    const TestDocument& document = corpus.documents[position];
    StoredDocument& stored = batch.emplace_back();
    stored.set_doc_id(document.doc_id);
    stored.set_url(corpus.urls[position]);
    stored.set_title(document.title);
    stored.set_text(document.body);
    stored.set_site(document.site);
  }
  NEPTUNE_RETURN_IF_ERROR(store->Put(batch));
  return store->Seal();
}

std::vector<Part> MakeParts(const std::string& folder, uint32_t count) {
  std::vector<Part> parts(count);
  for (uint32_t p = 0; p < count; ++p) parts[p].folder = StrCat(folder, "/", p);
  return parts;
}

std::vector<Part> Join(std::vector<Part> a, const std::vector<Part>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

SmallCorpus MakeSmallCorpus(uint64_t seed) {
  SmallCorpus corpus;
  corpus.index_version = 1 + seed;
  AppendPages(&corpus);
  AppendMade(index::ZipfDocuments(kZipfCount, seed), "https://", &corpus);
  AppendMade(index::LicenseDocuments(), "doc:licenses/", &corpus);
  return corpus;
}

Placement::Placement(const SmallCorpus& corpus, const IndexShape& shape)
    : shape_(shape), in_tier1_(corpus.documents.size()) {
  for (const TestDocument& document : corpus.documents) doc_ids_.push_back(document.doc_id);
  std::vector<size_t> order(corpus.documents.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return corpus.documents[a].static_rank > corpus.documents[b].static_rank;
  });
  order.resize(static_cast<size_t>(
      std::lround(shape.tier1_share * static_cast<double>(corpus.documents.size()))));
  for (const size_t position : order) in_tier1_[position] = true;
}

size_t Placement::PositionOf(uint64_t doc_id) const {
  const auto found = std::lower_bound(doc_ids_.begin(), doc_ids_.end(), doc_id);
  return static_cast<size_t>(found - doc_ids_.begin());
}

uint32_t Placement::tier_partition(uint64_t doc_id) const {
  return static_cast<uint32_t>(
      doc_id % (in_tier1(doc_id) ? shape_.tier1_partitions : shape_.tier2_partitions));
}

uint32_t Placement::document_partition(uint64_t doc_id) const {
  return docserver::PartitionOfDocument(doc_id, shape_.document_partitions);
}

Status BuildSmallIndex(const std::string& folder, const SmallCorpus& corpus,
                       const Placement& placement) {
  const IndexShape& shape = placement.shape();
  std::vector<Part> tier1 = MakeParts(folder + "/tier1", shape.tier1_partitions);
  std::vector<Part> tier2 = MakeParts(folder + "/tier2", shape.tier2_partitions);
  std::vector<Part> stores = MakeParts(folder + "/docs", shape.document_partitions);
  std::vector<Part> single = MakeParts(folder + "/single", 1);
  for (size_t i = 0; i < corpus.documents.size(); ++i) {
    const uint64_t doc_id = corpus.documents[i].doc_id;
    std::vector<Part>& tier = placement.in_tier1(doc_id) ? tier1 : tier2;
    tier[placement.tier_partition(doc_id)].positions.push_back(i);
    stores[placement.document_partition(doc_id)].positions.push_back(i);
    single[0].positions.push_back(i);
  }
  for (const Part& part : stores) {
    NEPTUNE_RETURN_IF_ERROR(BuildStore(corpus, shape.store_implementation, part));
  }
  NEPTUNE_RETURN_IF_ERROR(BuildCollection(corpus, kSegment, single, 0));
  return BuildCollection(corpus, shape.tier_implementation, Join(tier1, tier2), tier1.size());
}

}  // namespace search::tests
