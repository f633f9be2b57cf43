#include "tools/lab/workloads/synthetic_index.h"

#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

#include "docserver/document_service.h"
#include "docserver/registry.h"
#include "index/core/query/query.h"
#include "index/tier/registry.h"
#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"
#include "tools/build_index/index_manifest.h"
#include "tools/streams/digest.h"

namespace search::lab {
namespace {

using neptune::Duration;
using neptune::RandomSource;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr char kTier[] = "segment";
constexpr char kStore[] = "flat_file";
constexpr uint64_t kVocabularySize = 20'000;
constexpr int kWordsPerDocument = 200;
constexpr size_t kUsualCount = 500;
constexpr size_t kPathologicalCount = 8;
// The words of pathological queries; their pairs just fit into one query.
constexpr uint64_t kCommonWordCount = 17;
// Below the 4,096 bytes that a frontend accepts.
constexpr size_t kQuestionSizeMax = 3'900;
constexpr int kCostSampleCount = 5;

// Rank r with a probability of about 1 / r.
std::string CommonOrRareWord(RandomSource& random, uint64_t rank_max) {
  uint64_t below = rank_max;
  for (int i = 0; i < 3; ++i) below = 1 + random.Below(below);
  return StrCat("w", below);
}

Status BuildPart(const std::string& implementation, const std::string& folder, uint32_t partition,
                 size_t document_count) {
  NEPTUNE_ASSIGN_OR_RETURN(auto builder,
                           index::CreateTierBuilder(implementation, {.directory = folder}));
  for (uint64_t id = partition; id < document_count; id += kMadePartitionCount) {
    const std::string body = MadeBody(id);
    index::IndexedDocument document;
    document.doc_id = id;
    document.body = body;
    NEPTUNE_RETURN_IF_ERROR(builder->Add(document));
  }
  return builder->Finish();
}

std::string AlternativePhrases(RandomSource& random, size_t size_max) {
  std::vector<std::string> phrases;
  for (uint64_t first = 1; first <= kCommonWordCount; ++first) {
    for (uint64_t second = 1; second <= kCommonWordCount; ++second) {
      phrases.push_back(StrCat("\"w", first, " w", second, "\""));
    }
  }
  std::shuffle(phrases.begin(), phrases.end(), random);
  std::string text = phrases.back();
  for (; text.size() < size_max && phrases.size() > 1; phrases.pop_back()) {
    text += StrCat(" OR ", phrases[phrases.size() - 2]);
  }
  return text;
}

Duration ProcessorTime() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

StatusOr<Duration> CostOfOne(const MadeTiers& tiers, const std::string& question) {
  NEPTUNE_ASSIGN_OR_RETURN(const index::TierQuery query, TierQueryOf(question));
  const Duration before = ProcessorTime();
  for (const auto& tier : tiers) NEPTUNE_RETURN_IF_ERROR(tier->Search(query, {}).status());
  return ProcessorTime() - before;
}

StatusOr<Duration> MiddleCost(const MadeTiers& tiers, const std::vector<std::string>& questions) {
  std::vector<Duration> costs;
  for (int i = 0; i < kCostSampleCount; ++i) {
    NEPTUNE_ASSIGN_OR_RETURN(
        const Duration cost,
        CostOfOne(tiers, questions[static_cast<size_t>(i) % questions.size()]));
    costs.push_back(cost);
  }
  std::sort(costs.begin(), costs.end());
  return costs[costs.size() / 2];
}

}  // namespace

std::string MadeBody(uint64_t doc_id) {
  RandomSource random(doc_id + 1);
  std::string body;
  for (int i = 0; i < kWordsPerDocument; ++i) {
    body += CommonOrRareWord(random, kVocabularySize);
    body += ' ';
  }
  return body;
}

std::vector<std::string> UsualQuestions() {
  RandomSource random(7);
  std::vector<std::string> questions;
  for (size_t i = 0; i < kUsualCount; ++i) {
    questions.push_back(StrCat(CommonOrRareWord(random, kVocabularySize), " ",
                               CommonOrRareWord(random, kVocabularySize)));
  }
  return questions;
}

std::vector<std::string> PathologicalQuestions() {
  RandomSource random(8);
  std::vector<std::string> questions;
  for (size_t i = 0; i < kPathologicalCount; ++i) {
    questions.push_back(AlternativePhrases(random, kQuestionSizeMax));
  }
  return questions;
}

std::vector<std::string> DemandingQuestions(size_t count, size_t size_max) {
  RandomSource random(9);
  std::vector<std::string> questions;
  for (size_t i = 0; i < count; ++i) {
    questions.push_back(AlternativePhrases(random, size_max));
  }
  return questions;
}

StatusOr<index::TierQuery> TierQueryOf(const std::string& question) {
  NEPTUNE_ASSIGN_OR_RETURN(const index::Query query, index::ParseQuery(question));
  index::TierQuery asked;
  asked.set_query(index::Canonical(query));
  asked.set_hit_count_max(10);
  asked.set_count_exactly(true);
  asked.set_second_phase_count(50);
  return asked;
}

StatusOr<MadeTiers> OpenMadeTiers(const std::string& folder) {
  MadeTiers tiers;
  for (uint32_t p = 0; p < kMadePartitionCount; ++p) {
    NEPTUNE_ASSIGN_OR_RETURN(auto tier, index::OpenIndexTier(kTier, StrCat(folder, "/tier1/", p)));
    tiers.push_back(std::move(tier));
  }
  return tiers;
}

StatusOr<std::unique_ptr<SyntheticIndex>> SyntheticIndex::Build(size_t document_count) {
  std::string folder = (std::filesystem::temp_directory_path() / "made_index_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    return neptune::Unavailable("making a folder like ", folder);
  }
  std::unique_ptr<SyntheticIndex> made(new SyntheticIndex(folder, document_count));
  NEPTUNE_RETURN_IF_ERROR(made->BuildTier("tier1", kTier));
  NEPTUNE_RETURN_IF_ERROR(made->BuildStores());
  NEPTUNE_RETURN_IF_ERROR(made->WriteManifest());
  NEPTUNE_RETURN_IF_ERROR(made->MeasureCosts());
  return made;
}

neptune::StatusOr<const SyntheticIndex*> SyntheticIndex::Shared(size_t document_count) {
  static std::map<size_t, std::unique_ptr<SyntheticIndex>> built;
  auto& index = built[document_count];
  if (index == nullptr) {
    NEPTUNE_ASSIGN_OR_RETURN(index, Build(document_count));
  }
  return index.get();
}

SyntheticIndex::~SyntheticIndex() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Status SyntheticIndex::AddTier(const std::string& implementation) {
  NEPTUNE_RETURN_IF_ERROR(BuildTier("tier1." + implementation, implementation));
  other_tiers_.push_back(implementation);
  return WriteManifest();
}

Status SyntheticIndex::BuildTier(const std::string& name, const std::string& implementation) const {
  std::vector<std::string> folders;
  std::vector<Status> outcomes(kMadePartitionCount);
  std::vector<std::thread> threads;
  for (uint32_t p = 0; p < kMadePartitionCount; ++p) {
    folders.push_back(StrCat(folder_, "/", name, "/", p));
    threads.emplace_back([&, folder = folders.back(), p, outcome = &outcomes[p]] {
      *outcome = BuildPart(implementation, folder, p, document_count_);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& outcome : outcomes) NEPTUNE_RETURN_IF_ERROR(outcome);
  return index::FinishTierCollection(implementation, folders, {.index_version = index_version()});
}

Status SyntheticIndex::WriteManifest() const {
  tools::IndexManifest manifest;
  manifest.index_version = index_version();
  manifest.document_count = document_count_;
  const auto add_part = [&](const std::string& name, const std::string& implementation) {
    tools::ManifestPart& part = manifest.parts.emplace_back();
    part.name = name;
    part.implementation = implementation;
    for (uint32_t p = 0; p < kMadePartitionCount; ++p) {
      part.partitions.push_back({StrCat(name, "/", p), document_count_ / kMadePartitionCount});
    }
  };
  add_part("tier1", kTier);
  for (const std::string& other : other_tiers_) add_part("tier1." + other, other);
  add_part("docs", kStore);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
    const std::string path = entry.path().lexically_relative(folder_).string();
    if (!entry.is_regular_file() || path == "manifest.json") continue;
    NEPTUNE_ASSIGN_OR_RETURN(const tools::FileDigest digest,
                             tools::DigestFile(entry.path().string()));
    manifest.files.push_back({path, digest});
  }
  return tools::WriteIndexManifest(folder_, manifest);
}

Status SyntheticIndex::BuildStores() const {
  for (uint32_t p = 0; p < kMadePartitionCount; ++p) {
    NEPTUNE_ASSIGN_OR_RETURN(
        auto store,
        docserver::OpenDocumentStore(kStore, StrCat(folder_, "/docs/", p),
                                     {.mode = docserver::DocumentStoreOptions::Mode::kBuild}));
    for (uint64_t id = 0; id < document_count_; ++id) {
      if (docserver::PartitionOfDocument(id, kMadePartitionCount) != p) continue;
      docserver::StoredDocument document;
      document.set_doc_id(id);
      document.set_url(StrCat("https://made/", id));
      document.set_title(StrCat("Document ", id));
      document.set_text(MadeBody(id));
      NEPTUNE_RETURN_IF_ERROR(store->Put({&document, 1}));
    }
    NEPTUNE_RETURN_IF_ERROR(store->Seal());
  }
  return neptune::OkStatus();
}

StatusOr<Duration> SyntheticIndex::CostOf(const std::vector<std::string>& questions) const {
  NEPTUNE_ASSIGN_OR_RETURN(const MadeTiers tiers, OpenMadeTiers(folder_));
  return MiddleCost(tiers, questions);
}

Status SyntheticIndex::MeasureCosts() {
  NEPTUNE_ASSIGN_OR_RETURN(const MadeTiers tiers, OpenMadeTiers(folder_));
  NEPTUNE_ASSIGN_OR_RETURN(usual_cost_, MiddleCost(tiers, UsualQuestions()));
  NEPTUNE_ASSIGN_OR_RETURN(demanding_cost_, MiddleCost(tiers, DemandingQuestions()));
  NEPTUNE_ASSIGN_OR_RETURN(pathological_cost_, MiddleCost(tiers, PathologicalQuestions()));
  return neptune::OkStatus();
}

}  // namespace search::lab
