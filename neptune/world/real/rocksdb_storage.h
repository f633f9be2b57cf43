// Durable storage in RocksDB: a folder with one database a store.
//
//   DIRECTORY/NAME/...        one RocksDB database; its write-ahead log gives the order of writes
//
// RocksDB appears nowhere else in neptune.
// Threads: as storage.h says; durability and errors too.
// Limits: memory a store, kWriteBufferSize twice and kBlockCacheSize once.

#pragma once

#include <memory>
#include <string>

#include "neptune/world/storage.h"

namespace neptune {

// The folder and its parents are created when the first store is opened. One process at a time
// opens a store: RocksDB's lock refuses a second one.
std::unique_ptr<DurableStorage> MakeRocksDbStorage(std::string directory);

}  // namespace neptune
