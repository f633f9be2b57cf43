// RocksDB as the document store uses it: options, and its errors turned into ours at the edge.
//
// Threads: pure functions.
// Errors: DATA_LOSS checksum or structure damage; UNAVAILABLE the file system refuses; INTERNAL the
//   rest, which would be a misuse of RocksDB.

#pragma once

#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "docserver/document_store.h"
#include "neptune/base/status.h"

namespace search::docserver {

// OK, or the status with "action: " before RocksDB's own words.
neptune::Status FromRocksdb(const rocksdb::Status& status, std::string_view action);

// For a new database that is written once, without a log of writes.
rocksdb::Options BuildingOptions(const DocumentStoreOptions& options);
// For a sealed one, opened read-only; writes nothing into the directory.
rocksdb::Options ServingOptions(const DocumentStoreOptions& options);

// Keys sort as document numbers do: eight bytes, big-endian.
std::string DocumentKey(uint64_t doc_id);

}  // namespace search::docserver
