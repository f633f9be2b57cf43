#include "docserver/rocksdb/database.h"

#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <cstdarg>
#include <memory>

namespace search::docserver {
namespace {

// Discards RocksDB's log. RocksDB would rename and write a log file in the directory even if opened
// read-only, and two processes would interfere. Errors are returned as statuses anyway.
class SilentLogger : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::Options SharedOptions() {
  rocksdb::Options options;
  options.info_log = std::make_shared<SilentLogger>();
  options.paranoid_checks = true;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

rocksdb::BlockBasedTableOptions TableOptions(const DocumentStoreOptions& options) {
  rocksdb::BlockBasedTableOptions table;
  table.block_size = options.block_size;
  table.checksum = rocksdb::kXXH3;
  table.format_version = 5;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  return table;
}

}  // namespace

neptune::Status FromRocksdb(const rocksdb::Status& status, std::string_view action) {
  if (status.ok()) return neptune::OkStatus();
  if (status.IsCorruption()) return neptune::DataLoss(action, ": ", status.ToString());
  if (status.IsIOError()) return neptune::Unavailable(action, ": ", status.ToString());
  return neptune::Internal(action, ": ", status.ToString());
}

rocksdb::Options BuildingOptions(const DocumentStoreOptions& options) {
  rocksdb::Options database = SharedOptions();
  database.create_if_missing = true;
  database.error_if_exists = true;
  database.compression = rocksdb::kZSTD;
  database.compression_opts.level = options.compression_level;
  database.disable_auto_compactions = true;  // one compaction at the seal instead
  database.level0_slowdown_writes_trigger = 1 << 30;
  database.level0_stop_writes_trigger = 1 << 30;
  database.max_open_files = 256;
  database.table_factory.reset(rocksdb::NewBlockBasedTableFactory(TableOptions(options)));
  return database;
}

rocksdb::Options ServingOptions(const DocumentStoreOptions& options) {
  rocksdb::Options database = SharedOptions();
  rocksdb::BlockBasedTableOptions table = TableOptions(options);
  table.block_cache = rocksdb::NewLRUCache(options.cache_size);
  database.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return database;
}

std::string DocumentKey(uint64_t doc_id) {
  std::string key(sizeof(doc_id), '\0');
  for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<char>(doc_id >> (56 - 8 * i));
  return key;
}

std::string PieceKey(uint64_t doc_id, uint32_t number) {
  std::string key = DocumentKey(doc_id);
  for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<char>(number >> shift));
  return key;
}

}  // namespace search::docserver
