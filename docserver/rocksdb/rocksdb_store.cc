#include "docserver/rocksdb/rocksdb_store.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "docserver/rocksdb/database.h"
#include "docserver/store_checks.h"
#include "docserver/url_table.h"
#include "neptune/base/sealed_directory.h"

namespace search::docserver {
namespace {

// Maximum bytes of a write batch, which is held in memory.
constexpr size_t kWriteSizeMax = 4u << 20;

constexpr char kSealFileName[] = "SEAL";
// Prefix of the seal's description; the number of documents follows.
constexpr std::string_view kSealFirstWords = "neptune-document-store rocksdb 1 ";

class RocksdbStore : public DocumentStore {
 public:
  RocksdbStore(std::string directory, const DocumentStoreOptions& options)
      : directory_(std::move(directory)), options_(options) {}

  neptune::Status OpenForBuilding();
  neptune::Status OpenForServing();

  neptune::StatusOr<FetchedDocuments> Fetch(std::span<const uint64_t> ids) const override;
  neptune::Status Put(std::span<const StoredDocument> batch) override;
  neptune::Status Seal() override;
  neptune::StatusOr<std::optional<uint64_t>> FindUrl(std::string_view url) const override;
  neptune::Status Verify() const override;
  uint64_t document_count() const override {
    return is_readable_ ? document_count_ : built_ids_.size();
  }
  std::string_view name() const override { return kRocksdbStoreName; }

 private:
  std::string Action(std::string_view verb) const {
    return neptune::StrCat(verb, " RocksDB store ", directory_);
  }
  neptune::Status Write(rocksdb::WriteBatch* batch);
  neptune::Status Close();
  // Checks that no file has changed since the seal; returns the number of documents sealed.
  neptune::StatusOr<uint64_t> CheckSeal() const;

  const std::string directory_;
  const DocumentStoreOptions options_;
  std::unique_ptr<rocksdb::DB> database_;
  bool is_readable_ = false;
  uint64_t document_count_ = 0;              // number in the seal
  absl::flat_hash_set<uint64_t> built_ids_;  // while building
  UrlTableWriter built_urls_;                // while building
  std::optional<UrlTable> urls_;  // while serving; nullopt if the store was built without one
};

neptune::Status RocksdbStore::OpenForBuilding() {
  const rocksdb::Options options = BuildingOptions(options_);
  NEPTUNE_RETURN_IF_ERROR(
      FromRocksdb(rocksdb::DestroyDB(directory_, options), Action("clear unsealed")));
  rocksdb::DB* database = nullptr;
  NEPTUNE_RETURN_IF_ERROR(
      FromRocksdb(rocksdb::DB::Open(options, directory_, &database), Action("create")));
  database_.reset(database);
  return neptune::OkStatus();
}

neptune::StatusOr<uint64_t> RocksdbStore::CheckSeal() const {
  const auto description = neptune::CheckSealedDirectory(directory_, kSealFileName);
  std::error_code error;
  if (description.status().code() == neptune::StatusCode::kNotFound &&
      std::filesystem::exists(directory_ + "/CURRENT", error)) {
    return neptune::FailedPrecondition(Action("open"), ": never sealed");
  }
  if (!description.ok()) return neptune::Annotate(description.status(), Action("open"));
  const char* const end = description->data() + description->size();
  uint64_t document_count = 0;
  if (description->starts_with(kSealFirstWords)) {
    const auto parsed =
        std::from_chars(description->data() + kSealFirstWords.size(), end, document_count);
    if (parsed.ec == std::errc() && parsed.ptr == end) return document_count;
  }
  return neptune::DataLoss(Action("open"), ": its seal says '", *description, "'");
}

neptune::Status RocksdbStore::OpenForServing() {
  NEPTUNE_ASSIGN_OR_RETURN(document_count_, CheckSeal());
  rocksdb::DB* database = nullptr;
  NEPTUNE_RETURN_IF_ERROR(
      FromRocksdb(rocksdb::DB::OpenForReadOnly(ServingOptions(options_), directory_, &database),
                  Action("open")));
  database_.reset(database);
  NEPTUNE_ASSIGN_OR_RETURN(urls_, UrlTable::OpenIfThere(directory_));
  is_readable_ = true;
  return neptune::OkStatus();
}

neptune::Status RocksdbStore::Write(rocksdb::WriteBatch* batch) {
  rocksdb::WriteOptions options;
  options.disableWAL = true;  // data is not valid before the seal
  const neptune::Status status = FromRocksdb(database_->Write(options, batch), Action("write"));
  batch->Clear();
  return status;
}

neptune::Status RocksdbStore::Put(std::span<const StoredDocument> documents) {
  NEPTUNE_RETURN_IF_ERROR(CheckPut(database_ != nullptr && !is_readable_));
  rocksdb::WriteBatch batch;
  for (const StoredDocument& document : documents) {
    NEPTUNE_RETURN_IF_ERROR(CheckDocument(document));
    NEPTUNE_RETURN_IF_ERROR(FromRocksdb(
        batch.Put(DocumentKey(document.doc_id()), document.SerializeAsString()), Action("write")));
    built_ids_.insert(document.doc_id());
    built_urls_.Add(document.url(), document.doc_id());
    if (batch.GetDataSize() >= kWriteSizeMax) NEPTUNE_RETURN_IF_ERROR(Write(&batch));
  }
  return Write(&batch);
}

neptune::Status RocksdbStore::Close() {
  const neptune::Status status = FromRocksdb(database_->Close(), Action("close"));
  database_.reset();
  return status;
}

neptune::Status RocksdbStore::Seal() {
  if (is_readable_) return neptune::OkStatus();
  NEPTUNE_RETURN_IF_ERROR(CheckPut(database_ != nullptr));
  NEPTUNE_RETURN_IF_ERROR(FromRocksdb(database_->Flush(rocksdb::FlushOptions()), Action("flush")));
  NEPTUNE_RETURN_IF_ERROR(
      FromRocksdb(database_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr),
                  Action("compact")));
  NEPTUNE_RETURN_IF_ERROR(Close());
  NEPTUNE_RETURN_IF_ERROR(built_urls_.Write(directory_));
  NEPTUNE_RETURN_IF_ERROR(neptune::SealDirectory(
      directory_, kSealFileName, neptune::StrCat(kSealFirstWords, built_ids_.size())));
  built_ids_ = {};
  built_urls_ = {};
  return OpenForServing();
}

neptune::StatusOr<FetchedDocuments> RocksdbStore::Fetch(std::span<const uint64_t> ids) const {
  NEPTUNE_RETURN_IF_ERROR(CheckFetch(is_readable_, ids));
  std::vector<std::string> keys(ids.size());
  std::vector<rocksdb::Slice> slices(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) slices[i] = keys[i] = DocumentKey(ids[i]);
  std::vector<rocksdb::PinnableSlice> values(ids.size());
  std::vector<rocksdb::Status> statuses(ids.size());
  database_->MultiGet(rocksdb::ReadOptions(), database_->DefaultColumnFamily(), ids.size(),
                      slices.data(), values.data(), statuses.data());

  FetchedDocuments documents(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (statuses[i].IsNotFound()) continue;
    NEPTUNE_RETURN_IF_ERROR(
        FromRocksdb(statuses[i], neptune::StrCat("fetch document ", ids[i], " of ", directory_)));
    StoredDocument& document = documents[i].emplace();
    if (!document.ParseFromArray(values[i].data(), static_cast<int>(values[i].size())) ||
        document.doc_id() != ids[i]) {
      return neptune::DataLoss("fetch document ", ids[i], " of ", directory_,
                               ": the stored value is another document");
    }
  }
  return documents;
}

neptune::StatusOr<std::optional<uint64_t>> RocksdbStore::FindUrl(std::string_view url) const {
  NEPTUNE_RETURN_IF_ERROR(CheckFetch(is_readable_, {}));
  if (!urls_.has_value()) return DocumentStore::FindUrl(url);
  return FirstWithUrl(*this, urls_->Candidates(url), url);
}

neptune::Status RocksdbStore::Verify() const {
  NEPTUNE_RETURN_IF_ERROR(CheckFetch(is_readable_, {}));
  NEPTUNE_RETURN_IF_ERROR(CheckSeal());
  return FromRocksdb(database_->VerifyChecksum(), Action("verify"));
}

}  // namespace

neptune::StatusOr<std::unique_ptr<DocumentStore>> OpenRocksdbStore(
    const std::string& directory, const DocumentStoreOptions& options) {
  NEPTUNE_RETURN_IF_ERROR(CheckOptions(options));
  auto store = std::make_unique<RocksdbStore>(directory, options);
  if (options.mode == DocumentStoreOptions::Mode::kServe) {
    NEPTUNE_RETURN_IF_ERROR(store->OpenForServing());
  } else {
    NEPTUNE_RETURN_IF_ERROR(PrepareDirectory(directory, kSealFileName));
    NEPTUNE_RETURN_IF_ERROR(store->OpenForBuilding());
  }
  return store;
}

}  // namespace search::docserver
