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
// Prefix of the seal's description; the number of documents follows. Version 1 has no pieces of
// texts; it is still read.
constexpr std::string_view kSealFirstWords = "neptune-document-store rocksdb 2 ";
constexpr std::string_view kOldSealFirstWords = "neptune-document-store rocksdb 1 ";
static_assert(kSealFirstWords.size() == kOldSealFirstWords.size());

class RocksdbStore : public DocumentStore {
 public:
  RocksdbStore(std::string directory, const DocumentStoreOptions& options)
      : directory_(std::move(directory)), options_(options) {}

  neptune::Status OpenForBuilding();
  neptune::Status OpenForServing();

  neptune::StatusOr<FetchedDocuments> FetchBeginnings(std::span<const uint64_t> ids,
                                                      size_t text_size_max) const override;
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
  static neptune::Status Add(const StoredDocument& document, rocksdb::WriteBatch* batch);
  // Appends pieces of the text to a document that has the first one.
  neptune::Status AppendPieces(size_t text_size_max, StoredDocument* document) const;
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
  if (description->starts_with(kSealFirstWords) || description->starts_with(kOldSealFirstWords)) {
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
    NEPTUNE_RETURN_IF_ERROR(Add(document, &batch));
    built_ids_.insert(document.doc_id());
    built_urls_.Add(document.url(), document.doc_id());
    if (batch.GetDataSize() >= kWriteSizeMax) NEPTUNE_RETURN_IF_ERROR(Write(&batch));
  }
  return Write(&batch);
}

neptune::Status RocksdbStore::Add(const StoredDocument& document, rocksdb::WriteBatch* batch) {
  const std::string_view text = document.text();
  const size_t first_size = FirstPiece(text).size();
  const std::string value = first_size == text.size()
                                ? document.SerializeAsString()
                                : WithFirstPiece(document).SerializeAsString();
  rocksdb::Status status = batch->Put(DocumentKey(document.doc_id()), value);
  std::string_view rest = text.substr(first_size);
  for (uint32_t number = 1; status.ok() && !rest.empty(); ++number) {
    const std::string_view piece = FirstPiece(rest);
    status = batch->Put(PieceKey(document.doc_id(), number), {piece.data(), piece.size()});
    rest.remove_prefix(piece.size());
  }
  return FromRocksdb(status, neptune::StrCat("add document ", document.doc_id()));
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

neptune::Status RocksdbStore::AppendPieces(size_t text_size_max, StoredDocument* document) const {
  uint64_t more = document->more_text_size();
  for (uint32_t number = 1; more > 0 && document->text().size() < text_size_max; ++number) {
    rocksdb::PinnableSlice piece;
    const rocksdb::Status status =
        database_->Get(rocksdb::ReadOptions(), database_->DefaultColumnFamily(),
                       PieceKey(document->doc_id(), number), &piece);
    if (status.IsNotFound() || (status.ok() && (piece.empty() || piece.size() > more))) {
      return neptune::DataLoss("fetch document ", document->doc_id(), " of ", directory_,
                               ": piece ", number, " of its text is missing");
    }
    NEPTUNE_RETURN_IF_ERROR(FromRocksdb(status, Action("fetch from")));
    document->mutable_text()->append(piece.data(), piece.size());
    more -= piece.size();
  }
  document->set_more_text_size(more);
  return neptune::OkStatus();
}

neptune::StatusOr<FetchedDocuments> RocksdbStore::FetchBeginnings(std::span<const uint64_t> ids,
                                                                  size_t text_size_max) const {
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
    NEPTUNE_RETURN_IF_ERROR(AppendPieces(text_size_max, &document));
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
