#include <filesystem>
#include <system_error>
#include <utility>

#include "index/tier/engine_kit/collection_sums.h"
#include "index/tier/engine_kit/engine_tables.h"
#include "index/tier/engine_kit/engine_variant.h"

namespace search::index {
namespace {

using neptune::Status;
using neptune::StatusOr;

constexpr size_t kMemorySizeMin = size_t{1} << 20;
// Memory that engines hold per unflushed posting or position, approximately.
constexpr size_t kPostingSize = 64;

class EngineBuilder : public TierBuilder {
 public:
  EngineBuilder(const EngineDriver& driver, const TierBuilderOptions& options,
                std::unique_ptr<EngineStore> store)
      : driver_(driver), options_(options), store_(std::move(store)) {}

  Status Add(const IndexedDocument& document) override {
    if (status_.ok()) status_ = term_vector_.Add(document);
    if (status_.ok()) status_ = driver_.Guarded(options_.directory, [&] { return Write(); });
    return status_;
  }
  Status Finish() override {
    NEPTUNE_RETURN_IF_ERROR(status_);
    status_ = neptune::FailedPrecondition("build partition: already finished");
    return driver_.Guarded(options_.directory, [&]() -> Status {
      NEPTUNE_RETURN_IF_ERROR(documents_.Finish(term_vector_.partition(), store_.get()));
      return store_->Close();
    });
  }

 private:
  Status Write() {
    NEPTUNE_RETURN_IF_ERROR(store_->Write(term_vector_));
    NEPTUNE_RETURN_IF_ERROR(documents_.Add(term_vector_.record(), store_.get()));
    unflushed_size_ += kPostingSize * term_vector_.posting_count();
    if (unflushed_size_ < options_.memory_size_max) return neptune::OkStatus();
    unflushed_size_ = 0;
    return store_->Flush();
  }

  const EngineDriver driver_;
  const TierBuilderOptions options_;
  const std::unique_ptr<EngineStore> store_;
  TermVectorBuilder term_vector_;
  DocumentTableWriter documents_;
  size_t unflushed_size_ = 0;
  Status status_;
};

Status AddPartition(const EngineDriver& driver, const std::string& directory,
                    CollectionSums* sums) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto store,
                           driver.open({.directory = directory}, EngineMode::kRead));
  NEPTUNE_ASSIGN_OR_RETURN(const PartitionRecord partition, ReadPartition(*store, directory));
  sums->AddPartition(partition);
  NEPTUNE_ASSIGN_OR_RETURN(const auto documents, ReadDocuments(*store, directory));
  for (const DocumentRecord& document : documents) sums->AddDocument(document.doc_id);
  return store->ForEachTerm([&](std::string_view term, uint32_t count) {
    sums->AddTerm(term, count);
    return neptune::OkStatus();
  });
}

Status WriteStatistics(const EngineDriver& driver, const std::string& directory,
                       const CollectionRecord& collection, const CollectionSums& sums) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto store,
                           driver.open({.directory = directory}, EngineMode::kUpdate));
  NEPTUNE_RETURN_IF_ERROR(store->ForEachTerm([&](std::string_view term, uint32_t) {
    return WriteFrequency(term, sums.FrequencyOf(term), store.get());
  }));
  NEPTUNE_RETURN_IF_ERROR(WriteCollection(collection, store.get()));
  return store->Close();
}

}  // namespace

StatusOr<std::unique_ptr<TierBuilder>> CreateEngineBuilder(const EngineDriver& driver,
                                                           const TierBuilderOptions& options) {
  if (options.memory_size_max < kMemorySizeMin) {
    return neptune::InvalidArgument("build ", options.directory, ": memory_size_max ",
                                    options.memory_size_max, " is less than 1 MiB");
  }
  std::error_code error;
  std::filesystem::create_directories(options.directory, error);
  if (error) return neptune::Unavailable("create ", options.directory, ": ", error.message());
  std::unique_ptr<EngineStore> store;
  NEPTUNE_RETURN_IF_ERROR(driver.Guarded(options.directory, [&]() -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(store, driver.open(options, EngineMode::kCreate));
    return neptune::OkStatus();
  }));
  return std::make_unique<EngineBuilder>(driver, options, std::move(store));
}

Status FinishEngineCollection(const EngineDriver& driver,
                              const std::vector<std::string>& directories,
                              const TierCollectionOptions& options) {
  CollectionSums sums;
  for (const std::string& directory : directories) {
    NEPTUNE_RETURN_IF_ERROR(
        driver.Guarded(directory, [&] { return AddPartition(driver, directory, &sums); }));
  }
  NEPTUNE_ASSIGN_OR_RETURN(const CollectionRecord collection, sums.Finish(options.ranking));
  for (const std::string& directory : directories) {
    NEPTUNE_RETURN_IF_ERROR(driver.Guarded(
        directory, [&] { return WriteStatistics(driver, directory, collection, sums); }));
  }
  return neptune::OkStatus();
}

}  // namespace search::index
