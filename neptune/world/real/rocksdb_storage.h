// Durable storage in RocksDB: a directory with one database for each store.
//
//   DIRECTORY/.log-files/...  log files (posix_log_files.h)
//   DIRECTORY/NAME/...        one RocksDB database; its write-ahead log gives the order of writes
//
// RocksDB appears nowhere else in neptune.
// Threads: see storage.h, also for durability and errors.
// Limits: memory for each store: kWriteBufferSize twice and kBlockCacheSize once.

#pragma once

#include <memory>
#include <string>

#include "neptune/world/storage.h"

namespace neptune {

// The directory and its parents are created when the first store is opened. Only one process at a
// time can open a store: RocksDB's lock refuses a second one.
std::unique_ptr<DurableStorage> MakeRocksDbStorage(std::string directory);

}  // namespace neptune
