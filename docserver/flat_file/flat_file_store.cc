#include "docserver/flat_file/flat_file_store.h"

#include <filesystem>
#include <utility>

#include "docserver/flat_file/format.h"
#include "docserver/flat_file/reader.h"
#include "docserver/flat_file/writer.h"
#include "docserver/store_checks.h"

namespace search::docserver {
namespace {

// Has a writer until it is sealed, and a reader afterwards.
class FlatFileStore : public DocumentStore {
 public:
  FlatFileStore(std::string directory, std::unique_ptr<flat_file::Writer> writer)
      : directory_(std::move(directory)), writer_(std::move(writer)) {}
  explicit FlatFileStore(std::unique_ptr<flat_file::Reader> reader) : reader_(std::move(reader)) {}

  neptune::StatusOr<FetchedDocuments> FetchBeginnings(std::span<const uint64_t> ids,
                                                      size_t text_size_max) const override {
    NEPTUNE_RETURN_IF_ERROR(CheckFetch(reader_ != nullptr, ids));
    return reader_->Fetch(ids, text_size_max);
  }

  bool IsInMemory(std::span<const uint64_t> ids, size_t text_size_max) const override {
    return reader_ != nullptr && reader_->IsInMemory(ids, text_size_max);
  }

  neptune::Status Put(std::span<const StoredDocument> batch) override {
    NEPTUNE_RETURN_IF_ERROR(CheckPut(writer_ != nullptr));
    for (const StoredDocument& document : batch) {
      NEPTUNE_RETURN_IF_ERROR(writer_->Put(document));
    }
    return neptune::OkStatus();
  }

  neptune::Status Seal() override {
    if (writer_ == nullptr) return neptune::OkStatus();
    NEPTUNE_RETURN_IF_ERROR(writer_->Seal());
    NEPTUNE_ASSIGN_OR_RETURN(reader_, flat_file::Reader::Open(directory_));
    writer_.reset();
    return neptune::OkStatus();
  }

  neptune::Status Verify() const override {
    NEPTUNE_RETURN_IF_ERROR(CheckFetch(reader_ != nullptr, {}));
    return reader_->Verify();
  }

  neptune::Status CheckSound() const override {
    return reader_ == nullptr ? neptune::OkStatus() : reader_->CheckSound();
  }

  uint64_t document_count() const override {
    return reader_ != nullptr ? reader_->document_count() : writer_->document_count();
  }

  neptune::StatusOr<std::optional<uint64_t>> FindUrl(std::string_view url) const override {
    NEPTUNE_RETURN_IF_ERROR(CheckFetch(reader_ != nullptr, {}));
    if (reader_->urls() == nullptr) return DocumentStore::FindUrl(url);
    return FirstWithUrl(*this, reader_->urls()->Candidates(url), url);
  }

  std::string_view name() const override { return kFlatFileStoreName; }

 private:
  const std::string directory_;
  std::unique_ptr<flat_file::Writer> writer_;
  std::unique_ptr<flat_file::Reader> reader_;
};

}  // namespace

neptune::StatusOr<std::unique_ptr<DocumentStore>> OpenFlatFileStore(
    const std::string& directory, const DocumentStoreOptions& options) {
  NEPTUNE_RETURN_IF_ERROR(CheckOptions(options));
  if (options.mode == DocumentStoreOptions::Mode::kServe) {
    NEPTUNE_ASSIGN_OR_RETURN(auto reader, flat_file::Reader::Open(directory));
    return std::make_unique<FlatFileStore>(std::move(reader));
  }
  NEPTUNE_RETURN_IF_ERROR(PrepareDirectory(directory, flat_file::kIndexFileName));
  NEPTUNE_ASSIGN_OR_RETURN(auto writer, flat_file::Writer::Create(directory, options));
  return std::make_unique<FlatFileStore>(directory, std::move(writer));
}

}  // namespace search::docserver
