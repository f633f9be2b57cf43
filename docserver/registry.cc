#include "docserver/registry.h"

#include "docserver/flat_file/flat_file_store.h"
#include "docserver/rocksdb/rocksdb_store.h"

namespace search::docserver {

std::span<const DocumentStoreVariant> RegisteredDocumentStores() {
  static constexpr DocumentStoreVariant kVariants[] = {
      {kFlatFileStoreName, &OpenFlatFileStore},
      {kRocksdbStoreName, &OpenRocksdbStore},
  };
  return kVariants;
}

neptune::StatusOr<std::unique_ptr<DocumentStore>> OpenDocumentStore(
    std::string_view implementation, const std::string& directory,
    const DocumentStoreOptions& options) {
  std::string known;
  for (const DocumentStoreVariant& variant : RegisteredDocumentStores()) {
    if (variant.name == implementation) return variant.open(directory, options);
    neptune::StrAppend(&known, known.empty() ? "" : ", ", variant.name);
  }
  return neptune::InvalidArgument("unknown document store '", implementation, "'; known: ", known);
}

}  // namespace search::docserver
