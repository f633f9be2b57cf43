// The document store "rocksdb": a RocksDB database of serialised documents, compressed with zstd.
//
// Threads, errors and limits are those of document_store.h.

#pragma once

#include <memory>
#include <string>

#include "docserver/document_store.h"
#include "neptune/base/status.h"

namespace search::docserver {

inline constexpr char kRocksdbStoreName[] = "rocksdb";

neptune::StatusOr<std::unique_ptr<DocumentStore>> OpenRocksdbStore(
    const std::string& directory, const DocumentStoreOptions& options);

}  // namespace search::docserver
