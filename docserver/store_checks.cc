#include "docserver/store_checks.h"

#include <filesystem>
#include <system_error>

#include "neptune/base/utf8.h"

namespace search::docserver {
namespace {

constexpr uint32_t kBlockSizeMin = 1u << 10;
constexpr uint32_t kBlockSizeMax = 1u << 20;

}  // namespace

neptune::Status CheckOptions(const DocumentStoreOptions& options) {
  if (options.compression_level < 1 || options.compression_level > 19) {
    return neptune::InvalidArgument("compression_level is ", options.compression_level,
                                    "; must be 1 to 19");
  }
  if (options.block_size < kBlockSizeMin || options.block_size > kBlockSizeMax) {
    return neptune::InvalidArgument("block_size is ", options.block_size, "; must be ",
                                    kBlockSizeMin, " to ", kBlockSizeMax);
  }
  return neptune::OkStatus();
}

neptune::Status CheckFetch(bool is_readable, std::span<const uint64_t> ids) {
  if (!is_readable) return neptune::FailedPrecondition("fetch: the store is not sealed yet");
  if (ids.size() > kFetchCountMax) {
    return neptune::InvalidArgument("fetch: ", ids.size(), " documents requested, more than ",
                                    kFetchCountMax);
  }
  return neptune::OkStatus();
}

neptune::Status CheckPut(bool is_building) {
  if (!is_building) return neptune::FailedPrecondition("put: the store is sealed");
  return neptune::OkStatus();
}

neptune::Status CheckDocument(const StoredDocument& document) {
  const size_t size = document.ByteSizeLong();
  if (size > kDocumentSizeMax) {
    return neptune::InvalidArgument("put document ", document.doc_id(), ": ", size,
                                    " bytes, more than ", kDocumentSizeMax);
  }
  for (const std::string* text :
       {&document.url(), &document.title(), &document.text(), &document.site(),
        &document.public_url(), &document.structure()}) {
    if (neptune::IsUtf8(*text)) continue;
    return neptune::InvalidArgument("put document ", document.doc_id(), ": not UTF-8");
  }
  return neptune::OkStatus();
}

neptune::Status PrepareDirectory(const std::string& directory, std::string_view seal) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return neptune::Unavailable("create ", directory, ": ", error.message());
  if (std::filesystem::exists(std::filesystem::path(directory) / seal, error)) {
    return neptune::FailedPrecondition("build a store in ", directory,
                                       ": it already contains a sealed store");
  }
  return neptune::OkStatus();
}

neptune::StatusOr<std::optional<uint64_t>> FirstWithUrl(const DocumentStore& store,
                                                        std::span<const uint64_t> candidates,
                                                        std::string_view url) {
  NEPTUNE_ASSIGN_OR_RETURN(const FetchedDocuments documents, store.Fetch(candidates));
  for (const std::optional<StoredDocument>& document : documents) {
    if (document.has_value() && document->url() == url) return document->doc_id();
  }
  return std::nullopt;
}

}  // namespace search::docserver
