// Options of RocksDB for the document store, and conversion of its errors.
//
// Threads: pure functions.
// Errors: DATA_LOSS damaged checksum or structure; UNAVAILABLE file system error; INTERNAL any
//   other, which would be a misuse of RocksDB.

#pragma once

#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "docserver/document_store.h"
#include "neptune/base/status.h"

namespace search::docserver {

// Converts a status; the message is RocksDB's, prefixed with "action: ".
neptune::Status FromRocksdb(const rocksdb::Status& status, std::string_view action);

// Options of a new database that is written once, without a write-ahead log.
rocksdb::Options BuildingOptions(const DocumentStoreOptions& options);
// Options of a sealed database, opened read-only; nothing is written into the directory.
rocksdb::Options ServingOptions(const DocumentStoreOptions& options);

// Key of a document: its number in eight bytes, big-endian, so that keys sort by number.
std::string DocumentKey(uint64_t doc_id);
// Key of a further piece of a document's text, from 1: the document's, and its number in four
// bytes.
std::string PieceKey(uint64_t doc_id, uint32_t number);

}  // namespace search::docserver
