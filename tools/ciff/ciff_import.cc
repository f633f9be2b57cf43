#include "tools/ciff/ciff_import.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "docserver/registry.h"
#include "index/core/builder/postings_importer.h"
#include "index/core/segment/format.h"
#include "index/html/utf8.h"
#include "index/tier/registry.h"
#include "neptune/base/strings.h"
#include "tools/build_index/build_journal.h"
#include "tools/ciff/ciff_reader.h"
#include "tools/ciff/document_name.h"
#include "tools/ciff/document_placement.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/digest.h"

namespace search::tools {
namespace {

using docserver::StoredDocument;
using index::PostingsImporter;
using neptune::InvalidArgument;
using neptune::OkStatus;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;

constexpr std::string_view kTierVariant = "segment";
constexpr std::array<std::string_view, 2> kTierNames = {"tier1", "tier2"};
constexpr std::string_view kDocumentsName = "docs";
constexpr uint64_t kInterruptInterval = 4096;
constexpr size_t kStoreBatch = 1024;
constexpr unsigned kIndexVersionShift = 64 - 53;  // as in build_index

Status CheckOptions(const CiffImportOptions& options) {
  const auto bounded = [](uint32_t count) { return count >= 1 && count <= kImportPartitionsMax; };
  if (!bounded(options.partition_count) || !bounded(options.document_partition_count)) {
    return InvalidArgument("numbers of partitions must be 1 to ", kImportPartitionsMax);
  }
  if (!(options.tier1_share >= 0 && options.tier1_share <= 1)) {
    return InvalidArgument("the share of tier 1 must be 0 to 1");
  }
  return OkStatus();
}

// The document stores of the index while they are filled.
class StoreFiller {
 public:
  static StatusOr<StoreFiller> Create(const CiffImportOptions& options,
                                      const BuildJournal& journal) {
    StoreFiller filler;
    docserver::DocumentStoreOptions store_options;
    store_options.mode = docserver::DocumentStoreOptions::Mode::kBuild;
    for (uint32_t p = 0; p < options.document_partition_count; ++p) {
      NEPTUNE_ASSIGN_OR_RETURN(
          auto store, docserver::OpenDocumentStore(
                          options.document_store, journal.IndexPath(StrCat(kDocumentsName, "/", p)),
                          store_options));
      filler.stores_.push_back({std::move(store), {}});
    }
    return filler;
  }

  // The format has a name for each document and nothing else: it serves as address and as title.
  Status Add(uint64_t doc_id, const std::string& name_bytes) {
    const std::string name = html::ReplaceInvalidUtf8(name_bytes);
    auto& [store, batch] = stores_[doc_id % stores_.size()];
    StoredDocument& document = batch.emplace_back();
    document.set_doc_id(doc_id);
    document.set_url(AddressOfName(name));
    document.set_title(name);
    if (batch.size() < kStoreBatch) return OkStatus();
    const Status status = store->Put(batch);
    batch.clear();
    return status;
  }

  Status Seal(ManifestPart* part) {
    for (size_t p = 0; p < stores_.size(); ++p) {
      auto& [store, batch] = stores_[p];
      if (!batch.empty()) NEPTUNE_RETURN_IF_ERROR(store->Put(batch));
      batch.clear();
      NEPTUNE_RETURN_IF_ERROR(store->Seal());
      part->partitions.push_back({StrCat(part->name, "/", p), store->document_count()});
    }
    return OkStatus();
  }

 private:
  struct Store {
    std::unique_ptr<docserver::DocumentStore> store;
    std::vector<StoredDocument> batch;
  };
  std::vector<Store> stores_;
};

class Import {
 public:
  Import(const CiffImportOptions& options, BuildJournal journal, CiffReader reader)
      : options_(options),
        journal_(std::move(journal)),
        reader_(std::move(reader)),
        placement_(Tier1Count(), options.partition_count) {}

  StatusOr<CiffImportReport> Run(uint64_t index_version, const std::string& fingerprint) {
    report_.index_version = index_version;
    NEPTUNE_RETURN_IF_ERROR(CreateTiers());
    NEPTUNE_RETURN_IF_ERROR(ReadLists());
    NEPTUNE_RETURN_IF_ERROR(ReadDocuments());
    NEPTUNE_RETURN_IF_ERROR(FinishTiers());
    NEPTUNE_RETURN_IF_ERROR(WriteManifest(fingerprint));
    return report_;
  }

 private:
  uint32_t Tier1Count() const {
    return static_cast<uint32_t>(std::llround(options_.tier1_share * reader_.header().num_docs()));
  }

  Status CreateTiers() {
    for (const std::string_view tier : kTierNames) {
      for (uint32_t p = 0; p < options_.partition_count; ++p) {
        NEPTUNE_ASSIGN_OR_RETURN(
            auto importer, PostingsImporter::Create(journal_.IndexPath(StrCat(tier, "/", p))));
        importers_.push_back(std::move(importer));
      }
    }
    return OkStatus();
  }

  PostingsImporter& ImporterOf(const Place& place) {
    return *importers_[place.tier * options_.partition_count + place.partition];
  }

  Status ReadLists() {
    Progress progress({.label = "importing words",
                       .unit = "words",
                       .total = static_cast<uint64_t>(reader_.header().num_postings_lists()),
                       .out = options_.progress_out,
                       .clock = options_.clock});
    std::optional<std::string> last;
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(const bool found, reader_.NextList());
      if (!found) break;
      if (last && reader_.term() <= *last) {
        return InvalidArgument("byte ", reader_.position(), ": word '", reader_.term(), "' after '",
                               *last, "'; words must ascend by byte");
      }
      last = reader_.term();
      NEPTUNE_RETURN_IF_ERROR(ReadPostings());
      progress.Add(1);
    }
    progress.Finish();
    return OkStatus();
  }

  Status ReadPostings() {
    const bool wanted = PostingsImporter::IsPossibleKey(reader_.term());
    CiffPosting posting;
    for (bool is_first = true;; is_first = false) {
      NEPTUNE_ASSIGN_OR_RETURN(const bool found, reader_.NextPosting(&posting));
      if (!found) return OkStatus();
      if (is_first) ++(wanted ? report_.terms : report_.terms_left_out);
      if (++read_count_ % kInterruptInterval == 0) NEPTUNE_RETURN_IF_ERROR(CheckInterrupted());
      if (!wanted) continue;
      const Place place = placement_.Of(posting.docid);
      NEPTUNE_RETURN_IF_ERROR(
          ImporterOf(place).AddPosting(reader_.term(), place.ordinal, posting.tf));
      ++report_.postings;
    }
  }

  Status ReadDocuments() {
    NEPTUNE_ASSIGN_OR_RETURN(StoreFiller stores, StoreFiller::Create(options_, journal_));
    ciff::DocRecord document;
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(const bool found, reader_.NextDocument(&document));
      if (!found) break;
      const auto docid = static_cast<uint32_t>(document.docid());
      NEPTUNE_RETURN_IF_ERROR(ImporterOf(placement_.Of(docid))
                                  .AddDocument(docid, static_cast<uint32_t>(document.doclength())));
      const std::string& name = document.collection_docid();
      NEPTUNE_RETURN_IF_ERROR(stores.Add(docid, name.empty() ? StrCat(docid) : name));
      if (++report_.documents % kInterruptInterval == 0) {
        NEPTUNE_RETURN_IF_ERROR(CheckInterrupted());
      }
    }
    documents_part_.name = kDocumentsName;
    documents_part_.implementation = options_.document_store;
    return stores.Seal(&documents_part_);
  }

  Status FinishTiers() {
    std::vector<std::string> folders;
    for (size_t tier = 0; tier < kTierNames.size(); ++tier) {
      ManifestPart& part = parts_.emplace_back();
      part.name = kTierNames[tier];
      part.implementation = kTierVariant;
      for (uint32_t p = 0; p < options_.partition_count; ++p) {
        auto& importer = importers_[tier * options_.partition_count + p];
        NEPTUNE_ASSIGN_OR_RETURN(const auto summary, importer->Finish());
        importer.reset();
        part.partitions.push_back({StrCat(part.name, "/", p), summary.document_count});
        folders.push_back(journal_.IndexPath(part.partitions.back().folder));
      }
    }
    parts_.push_back(documents_part_);
    index::TierCollectionOptions collection;
    collection.index_version = report_.index_version;
    return index::FinishTierCollection(kTierVariant, folders, collection);
  }

  Status WriteManifest(const std::string& fingerprint) {
    IndexManifest manifest;
    manifest.index_version = report_.index_version;
    manifest.fingerprint = fingerprint;
    manifest.document_count = report_.documents;
    manifest.tier1_share = options_.tier1_share;
    manifest.parts = parts_;
    std::vector<std::string> folders;
    for (const ManifestPart& part : parts_) folders.push_back(part.name);
    NEPTUNE_ASSIGN_OR_RETURN(manifest.files, journal_.Digest(folders));
    NEPTUNE_RETURN_IF_ERROR(WriteIndexManifest(options_.folder, manifest));
    return journal_.Remove();
  }

  Status CheckInterrupted() const {
    return options_.interrupted && options_.interrupted()
               ? neptune::Cancelled("stopped; the import was removed")
               : OkStatus();
  }

  const CiffImportOptions& options_;
  const BuildJournal journal_;
  CiffReader reader_;
  const DocumentPlacement placement_;
  std::vector<std::unique_ptr<PostingsImporter>> importers_;  // by tier and partition
  std::vector<ManifestPart> parts_;
  ManifestPart documents_part_;
  CiffImportReport report_;
  uint64_t read_count_ = 0;  // postings, including those of skipped words
};

// Removes the files of a killed earlier import of the same file.
Status RemoveParts(const BuildJournal& journal) {
  for (const std::string_view part : {kTierNames[0], kTierNames[1], kDocumentsName}) {
    std::error_code error;
    std::filesystem::remove_all(journal.IndexPath(part), error);
    if (error) return neptune::Unavailable("removing ", part, ": ", error.message());
  }
  return OkStatus();
}

}  // namespace

StatusOr<CiffImportReport> ImportCiff(const CiffImportOptions& options) {
  NEPTUNE_RETURN_IF_ERROR(CheckOptions(options));
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(options.input));
  StatusOr<CiffReader> reader = CiffReader::Open(source.get());
  if (!reader.ok()) return neptune::Annotate(reader.status(), options.input);
  if (static_cast<uint32_t>(reader->header().num_docs()) > index::kSegmentDocumentsMax) {
    return InvalidArgument(options.input, ": ", reader->header().num_docs(),
                           " documents, more than ", index::kSegmentDocumentsMax);
  }
  NEPTUNE_ASSIGN_OR_RETURN(const FileDigest digest, DigestFile(options.input));
  const std::string fingerprint = StrCat(
      "ciff 1 ", digest.size, " ", digest.xxh3, " ", options.partition_count, " ",
      options.document_partition_count, " ", options.tier1_share, " ", options.document_store);
  const uint64_t hash = XXH3_64bits(fingerprint.data(), fingerprint.size());
  NEPTUNE_ASSIGN_OR_RETURN(BuildJournal journal, BuildJournal::Open(options.folder, fingerprint));
  NEPTUNE_RETURN_IF_ERROR(RemoveParts(journal));
  auto report = Import(options, std::move(journal), *std::move(reader))
                    .Run(std::max<uint64_t>(1, hash >> kIndexVersionShift), fingerprint);
  if (!report.ok()) return neptune::Annotate(report.status(), options.input);
  return report;
}

}  // namespace search::tools
