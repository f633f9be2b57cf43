#include "tools/build_index/build.h"

#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "docserver/registry.h"
#include "index/core/query/synonyms.h"
#include "index/tier/registry.h"
#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tools/build_index/asked_queries.h"
#include "tools/build_index/first_pages.h"
#include "tools/build_index/partition_stages.h"
#include "tools/build_index/rank_stage.h"
#include "tools/build_index/read_stage.h"
#include "tools/build_index/spool.h"
#include "tools/streams/digest.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrAppend;
using neptune::StrCat;
using Facts = BuildJournal::Facts;

// Increment when a stage's output changes for the same input.
constexpr int kBuildVersion = 5;
constexpr uint64_t kIndexVersionBits = 53;

Status CheckOptions(const BuildOptions& options) {
  if (options.inputs.empty()) return InvalidArgument("no input was given");
  if (options.folder.empty()) return InvalidArgument("no index folder was given");
  const auto bounded = [](uint32_t count) { return count >= 1 && count <= kPartitionsMax; };
  if (!bounded(options.partition_count) || !bounded(options.document_partition_count)) {
    return InvalidArgument("the number of partitions must be 1 to ", kPartitionsMax);
  }
  if (!(options.tier1_share >= 0 && options.tier1_share <= 1)) {
    return InvalidArgument("the share of tier 1 must be 0 to 1");
  }
  if (options.thread_count < 1 || options.thread_count > 64) {
    return InvalidArgument("the number of threads must be 1 to 64");
  }
  if (!options.asked_queries.empty() && options.asked_hours_min < kAskedHoursMin) {
    return InvalidArgument("queries must have been asked in at least ", kAskedHoursMin, " hours");
  }
  if (options.memory_mb < 256) return InvalidArgument("the memory must be at least 256 MiB");
  if (options.index_tiers.empty()) return InvalidArgument("no index tier was given");
  for (const std::string& name : options.index_tiers) {
    const auto variants = index::RegisteredIndexTiers();
    if (std::none_of(variants.begin(), variants.end(),
                     [&](const auto& variant) { return variant.name == name; })) {
      return InvalidArgument("there is no index tier '", name, "'");
    }
  }
  if (options.document_stores.empty()) return InvalidArgument("no document store was given");
  for (const std::string& name : options.document_stores) {
    const auto variants = docserver::RegisteredDocumentStores();
    if (std::none_of(variants.begin(), variants.end(),
                     [&](const auto& variant) { return variant.name == name; })) {
      return InvalidArgument("there is no document store '", name, "'");
    }
  }
  return OkStatus();
}

// Everything that determines an index: its options and the contents of the inputs.
StatusOr<std::string> Fingerprint(const BuildOptions& options) {
  std::string text = StrCat("build ", kBuildVersion, " ", kIndexFormatVersion, "\npartitions ",
                            options.partition_count, " ", options.document_partition_count,
                            "\nshare ", options.tier1_share, " ", options.one_tier_documents_max,
                            "\nlines ", options.lines.id_url_prefix, " ",
                            options.lines.default_site, " ", int{options.fail_on_bad_lines}, "\n");
  for (const std::string& name : options.index_tiers) StrAppend(&text, "tier ", name, "\n");
  for (const std::string& name : options.document_stores) StrAppend(&text, "store ", name, "\n");
  for (const std::string& input : options.inputs) {
    NEPTUNE_ASSIGN_OR_RETURN(const FileDigest digest, DigestFile(input));
    StrAppend(&text, "input ", digest.size, " ", digest.xxh3, "\n");
  }
  for (const std::string& log : options.asked_queries) {
    NEPTUNE_ASSIGN_OR_RETURN(const FileDigest digest, DigestFile(log));
    StrAppend(&text, "asked ", digest.size, " ", digest.xxh3, " ", options.asked_hours_min, "\n");
  }
  for (const std::string& log : options.tier1_queries) {
    NEPTUNE_ASSIGN_OR_RETURN(const FileDigest digest, DigestFile(log));
    StrAppend(&text, "tier1 ", digest.size, " ", digest.xxh3, "\n");
  }
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  char digits[33];
  snprintf(digits, sizeof(digits), "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
           static_cast<unsigned long long>(hash.low64));
  return std::string(digits);
}

// `contents`: hash of everything that decides what the documents are and where they are.
uint64_t IndexVersion(const BuildOptions& options, uint64_t contents,
                      const std::vector<index::AskedQuery>& asked) {
  std::string text = StrCat(kBuildVersion, " ", kIndexFormatVersion, " ", options.partition_count,
                            " ", options.document_partition_count, " ", options.tier1_share, " ",
                            options.one_tier_documents_max, " ", contents);
  for (const index::AskedQuery& query : asked) StrAppend(&text, "\n", query.count, query.text);
  const uint64_t hash = XXH3_64bits(text.data(), text.size());
  return std::max<uint64_t>(1, hash >> (64 - kIndexVersionBits));
}

// Runs the unfinished tasks on several threads; the first error stops all.
class TaskRunner {
 public:
  TaskRunner(const BuildOptions& options, const BuildJournal& journal,
             std::vector<PartitionTask> tasks)
      : options_(options), journal_(journal), tasks_(std::move(tasks)) {}

  Status Run() {
    Progress progress({.label = "building",
                       .unit = "documents",
                       .total = DropFinished(),
                       .out = options_.progress_out,
                       .clock = options_.clock});
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < options_.thread_count; ++i) {
        threads.emplace_back([this, &progress] { RunTasks(&progress); });
      }
    }
    if (status_.ok()) progress.Finish();
    absl::MutexLock lock(&mutex_);
    return status_;
  }

 private:
  // Returns the number of documents that remain to be taken.
  uint64_t DropFinished() {
    std::erase_if(tasks_, [this](const PartitionTask& task) {
      Facts facts;
      return journal_.IsFinished(task.name, &facts);
    });
    uint64_t documents = 0;
    for (const PartitionTask& task : tasks_) documents += task.document_count;
    return documents;
  }

  void RunTasks(Progress* progress) {
    while (true) {
      const size_t index = next_.fetch_add(1);
      if (index >= tasks_.size() || failed_) return;
      const Status status = RunTask(tasks_[index], progress);
      if (status.ok()) continue;
      absl::MutexLock lock(&mutex_);
      if (status_.ok()) status_ = status;
      failed_ = true;
    }
  }

  Status RunTask(const PartitionTask& task, Progress* progress) {
    NEPTUNE_RETURN_IF_ERROR(CheckInterrupted(options_));
    const auto facts = task.run(progress);
    if (!facts.ok()) return neptune::Annotate(facts.status(), task.name);
    if (FactOf(*facts, "documents") != task.document_count) {
      return neptune::Internal(task.name, " holds ", FactOf(*facts, "documents"),
                               " documents instead of ", task.document_count);
    }
    return journal_.Finish(task.name, {task.folder}, *facts);
  }

  const BuildOptions& options_;
  const BuildJournal& journal_;
  std::vector<PartitionTask> tasks_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> failed_{false};
  absl::Mutex mutex_;
  Status status_ ABSL_GUARDED_BY(mutex_);
};

class Build {
 public:
  Build(const BuildOptions& options, BuildJournal journal, std::string fingerprint)
      : options_(options), journal_(std::move(journal)), fingerprint_(std::move(fingerprint)) {}

  StatusOr<IndexManifest> Run() {
    NEPTUNE_ASSIGN_OR_RETURN(read_, Stage("read", ReadOutputs(), RunReadStage));
    NEPTUNE_ASSIGN_OR_RETURN(rank_, Stage("rank", RankOutputs(), RunRankStage));
    TaskInput input{.options = options_, .journal = journal_};
    NEPTUNE_ASSIGN_OR_RETURN(input.ranks, ReadValues<float>(journal_.BuildPath(kRanksName)));
    NEPTUNE_ASSIGN_OR_RETURN(input.tiers, Tiers());
    NEPTUNE_ASSIGN_OR_RETURN(input.numbers, DocumentNumbers::Load(journal_));
    NEPTUNE_RETURN_IF_ERROR(TaskRunner(options_, journal_, PartitionTasks(input, &parts_)).Run());
    NEPTUNE_RETURN_IF_ERROR(ReadAsked());
    NEPTUNE_RETURN_IF_ERROR(Statistics());
    return Manifest();
  }

 private:
  using StageFunction = StatusOr<Facts> (*)(const BuildOptions&, const BuildJournal&);

  StatusOr<Facts> Stage(const std::string& name, const std::vector<std::string>& outputs,
                        StageFunction run) {
    Facts facts;
    if (journal_.IsFinished(name, &facts)) return facts;
    NEPTUNE_RETURN_IF_ERROR(CheckInterrupted(options_));
    NEPTUNE_ASSIGN_OR_RETURN(facts, run(options_, journal_));
    NEPTUNE_RETURN_IF_ERROR(journal_.Finish(name, outputs, facts));
    return facts;
  }

  uint64_t Contents() const { return FactOf(read_, "contents") ^ FactOf(first_pages_, "contents"); }

  bool QueriesChooseTier1() const {
    return !options_.tier1_queries.empty() && Tier1Share(options_, FactOf(read_, "documents")) < 1;
  }

  // The tier of each document.
  StatusOr<std::vector<uint8_t>> Tiers() {
    if (!QueriesChooseTier1()) return ReadValues<uint8_t>(journal_.BuildPath(kTiersName));
    NEPTUNE_RETURN_IF_ERROR(FirstPagesStage());
    NEPTUNE_ASSIGN_OR_RETURN(const auto ranks, ReadValues<float>(journal_.BuildPath(kRanksName)));
    NEPTUNE_ASSIGN_OR_RETURN(const auto qualities,
                             ReadValues<float>(journal_.BuildPath(kQualitiesName)));
    NEPTUNE_ASSIGN_OR_RETURN(const auto page_counts,
                             ReadValues<uint32_t>(journal_.BuildPath(kPageCountsName)));
    if (page_counts.size() != ranks.size() || qualities.size() != ranks.size()) {
      return neptune::DataLoss("the build's files are inconsistent");
    }
    return ChooseTiers(ranks, qualities, Tier1Share(options_, ranks.size()), page_counts);
  }

  // Builds all documents as one tier, and asks it the questions of the logs.
  Status FirstPagesStage() {
    if (journal_.IsFinished("first_pages", &first_pages_)) return OkStatus();
    TaskInput trial{.options = options_, .journal = journal_};
    NEPTUNE_ASSIGN_OR_RETURN(trial.ranks, ReadValues<float>(journal_.BuildPath(kRanksName)));
    trial.tiers.assign(trial.ranks.size(), 1);
    const std::vector<PartitionTask> tasks = TrialTasks(trial);
    std::vector<std::string> folders;
    for (const PartitionTask& task : tasks) folders.push_back(journal_.IndexPath(task.folder));
    NEPTUNE_RETURN_IF_ERROR(TaskRunner(options_, journal_, tasks).Run());
    index::TierCollectionOptions collection;
    collection.index_version = 1;
    collection.thread_count = options_.thread_count;
    collection.tier1_count = options_.partition_count;
    NEPTUNE_RETURN_IF_ERROR(index::FinishTierCollection("segment", folders, collection));
    NEPTUNE_ASSIGN_OR_RETURN(const FirstPages pages,
                             CountFirstPages(options_, folders, trial.document_count()));
    const std::string_view bytes(reinterpret_cast<const char*>(pages.page_counts.data()),
                                 pages.page_counts.size() * sizeof(uint32_t));
    NEPTUNE_RETURN_IF_ERROR(WriteWholeFile(journal_.BuildPath(kPageCountsName), bytes));
    ReportFirstPages(pages);
    first_pages_ = {{"questions", pages.question_count},
                    {"contents", XXH3_64bits(bytes.data(), bytes.size())}};
    return journal_.Finish("first_pages", {InBuild(kPageCountsName)}, first_pages_);
  }

  void ReportFirstPages(const FirstPages& pages) const {
    if (!options_.report) return;
    const auto on_pages = std::count_if(pages.page_counts.begin(), pages.page_counts.end(),
                                        [](uint32_t count) { return count > 0; });
    options_.report(StrCat(WithThousands(pages.question_count), " questions have ",
                           WithThousands(static_cast<uint64_t>(on_pages)),
                           " documents on their first pages"));
  }

  static std::string InBuild(std::string_view name) { return StrCat(".build/", name); }

  std::vector<std::string> ReadOutputs() const {
    std::vector<std::string> outputs = {InBuild(kLinksName), InBuild(kUrlsName),
                                        InBuild(kQualitiesName)};
    for (uint32_t p = 0; p < options_.partition_count; ++p) {
      outputs.push_back(InBuild(ShardName(p)));
    }
    return outputs;
  }

  std::vector<std::string> RankOutputs() const {
    std::vector<std::string> outputs = {InBuild(kRanksName), InBuild(kTiersName)};
    for (uint32_t p = 0; p < options_.partition_count; ++p) {
      outputs.push_back(InBuild(AnchorsName(p)));
    }
    return outputs;
  }

  Status ReadAsked() {
    if (options_.asked_queries.empty()) return OkStatus();
    NEPTUNE_RETURN_IF_ERROR(CheckInterrupted(options_));
    NEPTUNE_ASSIGN_OR_RETURN(asked_,
                             ReadAskedQueries(options_.asked_queries, options_.asked_hours_min));
    if (!options_.report) return OkStatus();
    options_.report(StrCat(WithThousands(asked_.size()), " queries were asked in at least ",
                           options_.asked_hours_min, " hours and may be suggested"));
    return OkStatus();
  }

  // Statistics depend on all partitions, so they are recomputed in every build.
  Status Statistics() {
    NEPTUNE_RETURN_IF_ERROR(CheckInterrupted(options_));
    index::TierCollectionOptions collection;
    collection.index_version = IndexVersion(options_, Contents(), asked_);
    collection.asked_queries = asked_;
    collection.thread_count = options_.thread_count;
    collection.tier1_count = options_.partition_count;  // the first folders of each variant
    for (const std::string& variant : options_.index_tiers) {
      NEPTUNE_RETURN_IF_ERROR(
          index::FinishTierCollection(variant, TierFolders(journal_, parts_, variant), collection));
    }
    return OkStatus();
  }

  StatusOr<IndexManifest> Manifest() {
    IndexManifest manifest;
    manifest.index_version = IndexVersion(options_, Contents(), asked_);
    manifest.fingerprint = fingerprint_;
    manifest.document_count = FactOf(read_, "documents");
    manifest.link_count = FactOf(rank_, "links");
    manifest.tier1_share = Tier1Share(options_, manifest.document_count);
    manifest.parts = parts_;
    std::vector<std::string> folders;
    for (const ManifestPart& part : parts_) folders.push_back(part.name);
    NEPTUNE_ASSIGN_OR_RETURN(manifest.files, journal_.Digest(folders));
    NEPTUNE_RETURN_IF_ERROR(CheckInterrupted(options_));
    NEPTUNE_RETURN_IF_ERROR(WriteIndexManifest(options_.folder, manifest));
    NEPTUNE_RETURN_IF_ERROR(journal_.Remove());
    ReportCounts(manifest);
    return manifest;
  }

  void ReportCounts(const IndexManifest& manifest) const {
    if (!options_.report) return;
    options_.report(StrCat(WithThousands(manifest.document_count), " documents, ",
                           WithThousands(FactOf(rank_, "tier1")), " of them in tier 1; ",
                           WithThousands(manifest.link_count), " links; skipped: ",
                           WithThousands(FactOf(read_, "bad_lines")), " bad lines, ",
                           WithThousands(FactOf(read_, "duplicates")), " repeated urls"));
  }

  const BuildOptions& options_;
  const BuildJournal journal_;
  const std::string fingerprint_;
  Facts read_;
  Facts rank_;
  Facts first_pages_;  // empty if static rank alone chose tier 1
  std::vector<index::AskedQuery> asked_;
  std::vector<ManifestPart> parts_;
};

// The manifest without the file of synonyms, on which nothing else of the index depends.
IndexManifest WithoutSynonyms(IndexManifest manifest) {
  std::erase_if(manifest.files, [](const OutputFile& file) { return file.path == kSynonymsName; });
  return manifest;
}

StatusOr<IndexManifest> BuildUnlessThere(const BuildOptions& options) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::string fingerprint, Fingerprint(options));
  auto there = ReadIndexManifest(options.folder);
  if (there.ok() && there->fingerprint == fingerprint) {
    if (VerifyIndexFiles(options.folder, WithoutSynonyms(*there)).ok()) return there;
    if (options.report) options.report("the existing index is damaged; building it again");
  }
  NEPTUNE_ASSIGN_OR_RETURN(BuildJournal journal, BuildJournal::Open(options.folder, fingerprint));
  return Build(options, std::move(journal), fingerprint).Run();
}

// The text of the file of synonyms, which is valid; empty if there is none.
StatusOr<std::string> ReadSynonyms(const BuildOptions& options) {
  if (options.synonyms.empty()) return std::string();
  NEPTUNE_ASSIGN_OR_RETURN(std::string text,
                           neptune::ReadFile(options.synonyms, index::kSynonymFileSizeMax));
  const Status parsed = index::SynonymSets::Parse(text).status();
  if (!parsed.ok()) return neptune::Annotate(parsed, options.synonyms);
  return text;
}

Status PutSynonymsFile(const BuildOptions& options, const std::string& text) {
  const std::string path = StrCat(options.folder, "/", kSynonymsName);
  if (!options.synonyms.empty()) return neptune::WriteFileAtomically(path, text);
  std::error_code error;
  std::filesystem::remove(path, error);
  return error ? neptune::Unavailable("removing ", path, ": ", error.message()) : OkStatus();
}

// Makes the file of synonyms the one that is asked for, and a part of the version. After a crash
// between the two, the manifest does not fit the file, and the next build repairs it.
Status PutSynonyms(const BuildOptions& options, const std::string& text, IndexManifest* manifest) {
  NEPTUNE_RETURN_IF_ERROR(PutSynonymsFile(options, text));
  IndexManifest described = WithoutSynonyms(*manifest);
  if (!options.synonyms.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(FileDigest digest,
                             DigestFile(StrCat(options.folder, "/", kSynonymsName)));
    described.files.push_back({kSynonymsName, std::move(digest)});
  }
  if (described.files == manifest->files) return OkStatus();
  *manifest = std::move(described);
  return WriteIndexManifest(options.folder, *manifest);
}

}  // namespace

StatusOr<IndexManifest> BuildIndex(const BuildOptions& options) {
  NEPTUNE_RETURN_IF_ERROR(CheckOptions(options));
  NEPTUNE_ASSIGN_OR_RETURN(const std::string synonyms, ReadSynonyms(options));
  NEPTUNE_ASSIGN_OR_RETURN(IndexManifest manifest, BuildUnlessThere(options));
  NEPTUNE_RETURN_IF_ERROR(PutSynonyms(options, synonyms, &manifest));
  return manifest;
}

}  // namespace search::tools
