// Durable storage in RocksDB: a directory with one database for each store.
//
//   DIRECTORY/.log-files/...  log files (posix_log_files.h)
//   DIRECTORY/NAME/...        one RocksDB database; its write-ahead log gives the order of writes
//
// RocksDB appears nowhere else in neptune.
// Threads: see storage.h, also for durability and errors.
// Limits: kBlockCacheSizeTotal and about kWriteBufferSizeTotal bytes of memory for all stores; an
//   idle store has a few open files, no thread and nothing preallocated on the disk.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "neptune/world/storage.h"

namespace neptune {

inline constexpr size_t kBlockCacheSizeTotal = 128u << 20;
// Above this size of unflushed writes the store that has most of them is flushed.
inline constexpr size_t kWriteBufferSizeTotal = 256u << 20;

// The directory and its parents are created when the first store is opened. Only one process at a
// time can open a store: RocksDB's lock refuses a second one.
std::unique_ptr<DurableStorage> MakeRocksDbStorage(std::string directory);

}  // namespace neptune
