// The list of a sealed RocksDB directory's files, so that damage to its small files is found before
// RocksDB reads them, and a cut file at opening rather than at some later fetch.
//
// Source: none. RocksDB checks each data block it reads; it does not notice at opening that a table
//   file was cut or its last bytes changed.
// Layer: docserver, rocksdb. Threads: pure functions over files that nobody writes.
// Format: text lines "neptune-document-store rocksdb 1 COUNT", then "NAME SIZE CHECKSUM" for every
//   file, then "checksum CHECKSUM" of all before; checksums are XXH3 in hexadecimal. A file's
//   covers its last kTailSize bytes, which hold a table's index and footer; small files are covered
//   whole.
// Errors: FAILED_PRECONDITION no seal, DATA_LOSS the seal or a file is not what was sealed.

#pragma once

#include <cstdint>
#include <string>

#include "neptune/base/status.h"

namespace search::docserver {

inline constexpr char kSealFileName[] = "SEAL";

// Writes the seal of what is in `directory`. REQUIRES: the database is closed.
neptune::Status WriteSeal(const std::string& directory, uint64_t document_count);

// Compares the directory with its seal; the number of documents stored.
neptune::StatusOr<uint64_t> CheckSeal(const std::string& directory);

}  // namespace search::docserver
