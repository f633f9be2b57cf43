#include "index/tier/rocksdb_postings/posting_database.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <cstdarg>
#include <utility>

namespace search::index::rocksdb_postings {
namespace {

constexpr size_t kBlockCacheSize = 32u << 20;

// Discards RocksDB's log, which it would write into the directory even when it only reads.
class SilentLogger : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

neptune::Status FromRocksdb(const rocksdb::Status& status, std::string_view action,
                            std::string_view directory) {
  if (status.ok()) return neptune::OkStatus();
  const std::string message =
      neptune::StrCat(action, " posting database ", directory, ": ", status.ToString());
  if (status.IsCorruption()) return neptune::DataLoss(message);
  if (status.IsPathNotFound()) return neptune::NotFound(message);
  if (status.IsIOError()) return neptune::Unavailable(message);
  return neptune::Internal(message);
}

rocksdb::Options MakeOptions(PostingDatabase::Mode mode) {
  rocksdb::Options options;
  options.info_log = std::make_shared<SilentLogger>();
  options.create_if_missing = mode == PostingDatabase::Mode::kCreate;
  options.paranoid_checks = true;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.compression = rocksdb::kZSTD;
  options.disable_auto_compactions = true;  // Close compacts once
  options.level0_slowdown_writes_trigger = 1 << 30;
  options.level0_stop_writes_trigger = 1 << 30;
  options.max_open_files = 256;
  rocksdb::BlockBasedTableOptions table;
  table.checksum = rocksdb::kXXH3;
  table.format_version = 5;
  table.block_cache = rocksdb::NewLRUCache(kBlockCacheSize);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace

PostingDatabase::PostingDatabase(std::string directory, std::unique_ptr<rocksdb::DB> database)
    : directory_(std::move(directory)), database_(std::move(database)) {}

PostingDatabase::~PostingDatabase() = default;

neptune::StatusOr<std::unique_ptr<PostingDatabase>> PostingDatabase::Open(
    const std::string& directory, Mode mode) {
  const rocksdb::Options options = MakeOptions(mode);
  if (mode == Mode::kCreate) {
    NEPTUNE_RETURN_IF_ERROR(
        FromRocksdb(rocksdb::DestroyDB(directory, options), "clear", directory));
  }
  rocksdb::DB* database = nullptr;
  const rocksdb::Status status = mode == Mode::kReadOnly
                                     ? rocksdb::DB::OpenForReadOnly(options, directory, &database)
                                     : rocksdb::DB::Open(options, directory, &database);
  NEPTUNE_RETURN_IF_ERROR(FromRocksdb(status, "open", directory));
  return std::unique_ptr<PostingDatabase>(
      new PostingDatabase(directory, std::unique_ptr<rocksdb::DB>(database)));
}

neptune::Status PostingDatabase::Put(std::string_view key, std::string_view value) {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  return FromRocksdb(database_->Put(options, ToSlice(key), ToSlice(value)), "write", directory_);
}

neptune::StatusOr<std::optional<std::string>> PostingDatabase::Get(std::string_view key) const {
  std::string value;
  const rocksdb::Status status = database_->Get(rocksdb::ReadOptions(), ToSlice(key), &value);
  if (status.IsNotFound()) return std::optional<std::string>();
  NEPTUNE_RETURN_IF_ERROR(FromRocksdb(status, "read", directory_));
  return std::optional<std::string>(std::move(value));
}

neptune::Status PostingDatabase::ForEach(std::string_view prefix, const Visit& visit) const {
  const std::unique_ptr<rocksdb::Iterator> at(database_->NewIterator(rocksdb::ReadOptions()));
  for (at->Seek(ToSlice(prefix)); at->Valid() && ToView(at->key()).starts_with(prefix);
       at->Next()) {
    NEPTUNE_RETURN_IF_ERROR(visit(ToView(at->key()), ToView(at->value())));
  }
  return FromRocksdb(at->status(), "read", directory_);
}

neptune::Status PostingDatabase::Close() {
  NEPTUNE_RETURN_IF_ERROR(
      FromRocksdb(database_->Flush(rocksdb::FlushOptions()), "flush", directory_));
  NEPTUNE_RETURN_IF_ERROR(
      FromRocksdb(database_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr),
                  "compact", directory_));
  NEPTUNE_RETURN_IF_ERROR(FromRocksdb(database_->Close(), "close", directory_));
  database_.reset();
  return neptune::OkStatus();
}

}  // namespace search::index::rocksdb_postings
