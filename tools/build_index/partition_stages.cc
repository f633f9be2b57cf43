#include "tools/build_index/partition_stages.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "docserver/registry.h"
#include "index/html/text_signature.h"
#include "index/tier/registry.h"
#include "index/tier/titles/title_table.h"
#include "neptune/base/strings.h"
#include "tools/build_index/rank_stage.h"
#include "tools/build_index/read_stage.h"
#include "tools/build_index/spool.h"

namespace search::tools {
namespace {

using docserver::DocumentStore;
using docserver::DocumentStoreOptions;
using docserver::OpenDocumentStore;
using docserver::StoredDocument;
using index::TierBuilder;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr size_t kBatchSizeMax = size_t{1} << 20;
// Bytes of a field before its value.
constexpr size_t kFieldSizeMax = 16;

Status MakeEmptyFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (!error) std::filesystem::create_directories(folder, error);
  return error ? neptune::Unavailable("creating ", folder, ": ", error.message()) : OkStatus();
}

// Anchor texts of one partition, read in ascending order of documents.
class AnchorReader {
 public:
  static StatusOr<AnchorReader> Open(const std::string& path) {
    NEPTUNE_ASSIGN_OR_RETURN(SpoolReader spool, SpoolReader::Open(path));
    return AnchorReader(std::move(spool));
  }

  // Returns "" if there are none. REQUIRES: ascending doc_id. Valid until the next call.
  StatusOr<std::string_view> TextOf(uint64_t doc_id) {
    while (!ended_ && (!started_ || doc_id_ < doc_id)) NEPTUNE_RETURN_IF_ERROR(Advance());
    return !ended_ && doc_id_ == doc_id ? text_ : std::string_view();
  }

 private:
  explicit AnchorReader(SpoolReader spool) : spool_(std::move(spool)) {}

  Status Advance() {
    std::string_view record;
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, spool_.Next(&record));
    started_ = true;
    ended_ = !more;
    RecordReader reader(record);
    if (!more) return OkStatus();
    doc_id_ = reader.ReadNextNumber();
    text_ = reader.ReadText();
    return reader.ok() ? OkStatus() : neptune::DataLoss("a spooled anchor text is damaged");
  }

  SpoolReader spool_;
  bool started_ = false;
  bool ended_ = false;
  uint64_t doc_id_ = 0;
  std::string_view text_;
};

// One partition of one index tier, of one variant.
class TierTask {
 public:
  TierTask(const TaskInput& input, std::string implementation, uint8_t tier, uint32_t partition,
           std::string folder)
      : input_(input),
        implementation_(std::move(implementation)),
        tier_(tier),
        partition_(partition),
        folder_(std::move(folder)) {}

  // The partition names its documents (index/tier/titles).
  TierTask WithTitles() && {
    with_titles_ = true;
    return std::move(*this);
  }

  StatusOr<BuildJournal::Facts> operator()(Progress* progress) const {
    const BuildJournal& journal = input_.journal;
    const std::string folder = journal.IndexPath(folder_);
    NEPTUNE_RETURN_IF_ERROR(MakeEmptyFolder(folder));
    NEPTUNE_ASSIGN_OR_RETURN(
        const auto builder,
        index::CreateTierBuilder(implementation_,
                                 {.directory = folder, .memory_size_max = BuilderMemory()}));
    NEPTUNE_ASSIGN_OR_RETURN(auto shard,
                             SpoolReader::Open(journal.BuildPath(ShardName(partition_))));
    NEPTUNE_ASSIGN_OR_RETURN(auto anchors,
                             AnchorReader::Open(journal.BuildPath(AnchorsName(partition_))));
    Partition partition{.builder = *builder};
    if (with_titles_) {
      NEPTUNE_ASSIGN_OR_RETURN(partition.titles, index::TitleTableWriter::Create(folder));
    }
    NEPTUNE_ASSIGN_OR_RETURN(const uint64_t added, AddAll(&shard, &anchors, partition, progress));
    NEPTUNE_RETURN_IF_ERROR(builder->Finish());
    if (partition.titles != nullptr) NEPTUNE_RETURN_IF_ERROR(partition.titles->Finish());
    return BuildJournal::Facts{{"documents", added}};
  }

 private:
  // Half of the memory is for inversion; the rest for merging, spools and the stages' own arrays.
  size_t BuilderMemory() const {
    const uint64_t all = input_.options.memory_mb << 20;
    return static_cast<size_t>(all / 2 / static_cast<uint64_t>(input_.options.thread_count));
  }

  struct Partition {
    TierBuilder& builder;
    std::unique_ptr<index::TitleTableWriter> titles = nullptr;  // null: none is written
  };

  // Returns the number of documents added.
  StatusOr<uint64_t> AddAll(SpoolReader* shard, AnchorReader* anchors, Partition& partition,
                            Progress* progress) const {
    uint64_t taken = 0;
    std::string_view record;
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(const bool more, shard->Next(&record));
      if (!more) break;
      NEPTUNE_ASSIGN_OR_RETURN(const SpooledDocument document, ReadDocument(record));
      if (document.doc_id >= input_.document_count())
        return neptune::DataLoss("a document number is out of range");
      if (input_.tiers[document.doc_id] != tier_) continue;
      NEPTUNE_ASSIGN_OR_RETURN(const std::string_view extra, anchors->TextOf(document.doc_id));
      NEPTUNE_RETURN_IF_ERROR(Add(document, extra, partition));
      if (++taken % kInterruptInterval != 0) continue;
      progress->Add(kInterruptInterval);
      NEPTUNE_RETURN_IF_ERROR(CheckInterrupted(input_.options));
    }
    progress->Add(taken % kInterruptInterval);
    return taken;
  }

  Status Add(const SpooledDocument& document, std::string_view extra, Partition& partition) const {
    if (partition.titles != nullptr) {
      NEPTUNE_RETURN_IF_ERROR(
          partition.titles->Add(document.doc_id, {.url = document.url,
                                                  .title = document.title,
                                                  .site = document.site,
                                                  .public_url = document.public_url}));
    }
    return partition.builder.AddWithHeadings({.doc_id = document.doc_id,
                                              .title = document.title,
                                              .body = document.text,
                                              .extra_text = extra,
                                              .site = document.site,
                                              .static_rank = input_.ranks[document.doc_id],
                                              .url = document.url,
                                              .language = document.language,
                                              .date = document.date},
                                             document.headings);
  }

  const TaskInput& input_;
  const std::string implementation_;
  const uint8_t tier_;
  const uint32_t partition_;
  const std::string folder_;
  bool with_titles_ = false;
};

// The document store of one partition, of one variant.
class DocumentsTask {
 public:
  DocumentsTask(const TaskInput& input, std::string implementation, uint32_t partition,
                std::string folder)
      : input_(input),
        implementation_(std::move(implementation)),
        partition_(partition),
        folder_(std::move(folder)) {}

  StatusOr<BuildJournal::Facts> operator()(Progress* progress) const {
    const std::string folder = input_.journal.IndexPath(folder_);
    NEPTUNE_RETURN_IF_ERROR(MakeEmptyFolder(folder));
    DocumentStoreOptions options;
    options.mode = DocumentStoreOptions::Mode::kBuild;
    NEPTUNE_ASSIGN_OR_RETURN(const auto store, OpenDocumentStore(implementation_, folder, options));
    NEPTUNE_RETURN_IF_ERROR(PutAll(store.get(), progress));
    NEPTUNE_RETURN_IF_ERROR(store->Seal());
    return BuildJournal::Facts{{"documents", store->document_count()}};
  }

 private:
  // The numbers of this partition ascend, and the next one is always at the front of its shard
  // after skipping the numbers of other partitions.
  Status PutAll(DocumentStore* store, Progress* progress) const {
    const uint32_t step = input_.options.document_partition_count;
    std::vector<std::optional<SpoolReader>> shards(input_.options.partition_count);
    std::vector<StoredDocument> batch;
    size_t batch_size = 0;
    for (uint64_t doc_id = partition_; doc_id < input_.document_count(); doc_id += step) {
      NEPTUNE_ASSIGN_OR_RETURN(const SpooledDocument document, Find(doc_id, &shards));
      batch.push_back(ToStored(document));
      batch_size += document.text.size() + document.structure.size();
      if (batch_size < kBatchSizeMax && batch.size() < kInterruptInterval) continue;
      NEPTUNE_RETURN_IF_ERROR(CheckInterrupted(input_.options));
      NEPTUNE_RETURN_IF_ERROR(store->Put(batch));
      progress->Add(batch.size());
      batch.clear();
      batch_size = 0;
    }
    progress->Add(batch.size());
    return batch.empty() ? OkStatus() : store->Put(batch);
  }

  StatusOr<SpooledDocument> Find(uint64_t doc_id,
                                 std::vector<std::optional<SpoolReader>>* shards) const {
    const auto partition = static_cast<uint32_t>(doc_id % shards->size());
    std::optional<SpoolReader>& shard = (*shards)[partition];
    if (!shard) {
      NEPTUNE_ASSIGN_OR_RETURN(shard,
                               SpoolReader::Open(input_.journal.BuildPath(ShardName(partition))));
    }
    std::string_view record;
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(const bool more, shard->Next(&record));
      if (!more)
        return neptune::DataLoss("document ", doc_id, " is missing from the build's files");
      NEPTUNE_ASSIGN_OR_RETURN(const SpooledDocument document, ReadDocument(record));
      if (document.doc_id == doc_id) return document;
    }
  }

  StoredDocument ToStored(const SpooledDocument& document) const {
    StoredDocument stored;
    stored.set_doc_id(document.doc_id);
    stored.set_url(std::string(document.url));
    stored.set_title(std::string(document.title));
    stored.set_text(std::string(document.text));
    stored.set_site(std::string(document.site));
    stored.set_public_url(std::string(document.public_url));
    stored.set_signature(html::TextSignature(document.text));
    // A document that fills a store's record is shown as plain text.
    std::string structure = input_.numbers.StoredStructure(document.structure, document.text);
    if (stored.ByteSizeLong() + structure.size() + kFieldSizeMax <= docserver::kDocumentSizeMax) {
      stored.set_structure(std::move(structure));
    }
    return stored;
  }

  const TaskInput& input_;
  const std::string implementation_;
  const uint32_t partition_;
  const std::string folder_;
};

// The first variant is in NAME/, others in NAME.VARIANT/.
std::string PartName(std::string_view name, const std::vector<std::string>& variants,
                     const std::string& variant) {
  return variant == variants[0] ? std::string(name) : StrCat(name, ".", variant);
}

uint64_t CountDocuments(const TaskInput& input, uint8_t tier, uint32_t partition) {
  uint64_t documents = 0;
  for (uint64_t i = partition; i < input.document_count(); i += input.options.partition_count) {
    documents += input.tiers[i] == tier ? 1 : 0;
  }
  return documents;
}

void AddTierTasks(const TaskInput& input, std::vector<PartitionTask>* tasks,
                  std::vector<ManifestPart>* parts) {
  const std::vector<std::string>& variants = input.options.index_tiers;
  for (const std::string& variant : variants) {
    for (const uint8_t tier : {1, 2}) {
      const std::string name = PartName(StrCat("tier", int{tier}), variants, variant);
      ManifestPart part{.name = name, .implementation = variant, .partitions = {}};
      for (uint32_t p = 0; p < input.options.partition_count; ++p) {
        const uint64_t documents = CountDocuments(input, tier, p);
        const std::string folder = StrCat(name, "/", p);
        tasks->push_back({.name = StrCat("index.", name, ".", p),
                          .folder = folder,
                          .document_count = documents,
                          .run = TierTask(input, variant, tier, p, folder).WithTitles()});
        part.partitions.push_back({folder, documents});
      }
      parts->push_back(std::move(part));
    }
  }
}

void AddDocumentsTasks(const TaskInput& input, std::vector<PartitionTask>* tasks,
                       std::vector<ManifestPart>* parts) {
  const uint32_t count = input.options.document_partition_count;
  const std::vector<std::string>& variants = input.options.document_stores;
  for (const std::string& implementation : variants) {
    const std::string name = PartName("docs", variants, implementation);
    ManifestPart part{.name = name, .implementation = implementation, .partitions = {}};
    for (uint32_t p = 0; p < count; ++p) {
      const uint64_t all = input.document_count();
      const uint64_t documents = all > p ? (all - p + count - 1) / count : 0;
      const std::string folder = StrCat(name, "/", p);
      tasks->push_back({.name = StrCat("documents.", implementation, ".", p),
                        .folder = folder,
                        .document_count = documents,
                        .run = DocumentsTask(input, implementation, p, folder)});
      part.partitions.push_back({folder, documents});
    }
    parts->push_back(std::move(part));
  }
}

}  // namespace

std::vector<PartitionTask> PartitionTasks(const TaskInput& input,
                                          std::vector<ManifestPart>* parts) {
  std::vector<PartitionTask> tasks;
  AddTierTasks(input, &tasks, parts);
  AddDocumentsTasks(input, &tasks, parts);
  // Larger tasks first, so that no thread is left with a long task at the end.
  std::stable_sort(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) {
    return a.document_count > b.document_count;
  });
  return tasks;
}

std::vector<PartitionTask> TrialTasks(const TaskInput& input) {
  std::vector<PartitionTask> tasks;
  for (uint32_t p = 0; p < input.options.partition_count; ++p) {
    const std::string folder = StrCat(".build/trial/", p);
    tasks.push_back({.name = StrCat("trial.", p),
                     .folder = folder,
                     .document_count = CountDocuments(input, 1, p),
                     .run = TierTask(input, "segment", 1, p, folder)});
  }
  return tasks;
}

std::vector<std::string> TierFolders(const BuildJournal& journal,
                                     const std::vector<ManifestPart>& parts,
                                     std::string_view implementation) {
  std::vector<std::string> folders;
  for (const ManifestPart& part : parts) {
    if (!part.name.starts_with("tier") || part.implementation != implementation) continue;
    for (const ManifestPartition& partition : part.partitions) {
      folders.push_back(journal.IndexPath(partition.folder));
    }
  }
  return folders;
}

}  // namespace search::tools
