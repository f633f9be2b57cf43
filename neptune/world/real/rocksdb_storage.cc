#include "neptune/world/real/rocksdb_storage.h"

#include <glog/logging.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "neptune/base/disk_room.h"
#include "neptune/base/file.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/world/real/host_resources.h"
#include "neptune/world/real/posix_log_files.h"

namespace neptune {
namespace {

constexpr size_t kWriteBufferSize = 16u << 20;
constexpr int kOpenFileCountMax = 64;
constexpr size_t kManifestStep = 64u << 10;
// Bytes of a record of a batch, beside key and value.
constexpr size_t kRecordSizeMax = 12;
constexpr char kLogFolder[] = ".log-files";  // no valid name of a store

rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view ToView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

Status FromRocksDb(const rocksdb::Status& status, std::string_view action, std::string_view name) {
  if (status.ok()) return OkStatus();
  const std::string message = StrCat(action, " store ", name, ": ", status.ToString());
  if (status.IsNoSpace()) return ResourceExhausted(message);
  if (status.IsCorruption()) return DataLoss(message);
  if (status.IsInvalidArgument()) return InvalidArgument(message);
  return Unavailable(message);
}

// Refuses to make the files that record a database's options: every opening would write one and
// read it again, which takes more time than all the rest, and nothing here reads them.
class FilesWithoutOptions final : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "FilesWithoutOptions"; }
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* context) override {
    if (path.find("/OPTIONS-") != std::string::npos) {
      return rocksdb::IOStatus::NotSupported("options are not recorded");
    }
    return FileSystemWrapper::NewWritableFile(path, options, file, context);
  }
};

// Used by all databases; never destroyed, since their threads use it until the process ends.
rocksdb::Env* TheEnv() {
  static rocksdb::Env* const env = rocksdb::NewCompositeEnv(std::make_shared<FilesWithoutOptions>(
                                                                rocksdb::FileSystem::Default()))
                                       .release();
  return env;
}

// What RocksDB says goes into the log of the program, not into a file beside each database.
class ProgramLog final : public rocksdb::Logger {
 public:
  ProgramLog() : Logger(rocksdb::InfoLogLevel::ERROR_LEVEL) {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char text[kLineSizeMax];
    std::vsnprintf(text, sizeof(text), format, arguments);
    LOG(ERROR) << "RocksDB: " << text;
  }

 private:
  static constexpr size_t kLineSizeMax = 1024;
};

// Memory that all stores of a storage share.
struct SharedMemory {
  std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(kBlockCacheSizeTotal);
  std::shared_ptr<rocksdb::WriteBufferManager> write_buffers =
      std::make_shared<rocksdb::WriteBufferManager>(kWriteBufferSizeTotal);
  std::shared_ptr<rocksdb::Logger> log = std::make_shared<ProgramLog>();
};

// Many stores must be cheap: nothing is allocated in advance on the disk, an idle store does
// nothing, and an opening writes as little as possible.
rocksdb::Options MakeOptions(const SharedMemory& memory) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = memory.cache;
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = kWriteBufferSize;
  options.max_write_buffer_number = 2;
  options.max_open_files = kOpenFileCountMax;
  options.max_file_opening_threads = 1;  // they are started for each opening, whatever it opens
  options.env = TheEnv();
  options.info_log = memory.log;
  // What the log has is replayed into memory; the log stays until that is flushed as usual.
  options.avoid_flush_during_recovery = true;
  options.write_buffer_manager = memory.write_buffers;
  options.allow_fallocate = false;
  options.manifest_preallocation_size = kManifestStep;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.skip_stats_update_on_db_open = true;
  // The log is replayed up to its first damaged record; the rest is the torn end of a crash.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// Names of the stores this process has open; outlives the storage while a store is open.
class OpenNames {
 public:
  bool Take(const std::string& name) {
    LeafLock lock(&mutex_);
    return names_.insert(name).second;
  }
  void Release(const std::string& name) {
    LeafLock lock(&mutex_);
    names_.erase(name);
  }

 private:
  LeafMutex mutex_;
  std::set<std::string> names_ ABSL_GUARDED_BY(mutex_);
};

// The exclusive right to open one name.
class NameLease {
 public:
  static StatusOr<NameLease> Take(std::shared_ptr<OpenNames> names, std::string_view name) {
    NEPTUNE_RETURN_IF_ERROR(CheckStoreName(name));
    NameLease lease(std::move(names), std::string(name));
    if (!lease.names_->Take(lease.name_)) {
      lease.names_.reset();
      return FailedPrecondition("store ", name, " is open");
    }
    return lease;
  }
  NameLease(NameLease&&) = default;
  ~NameLease() {
    if (names_ != nullptr) names_->Release(name_);
  }
  const std::string& name() const { return name_; }

 private:
  NameLease(std::shared_ptr<OpenNames> names, std::string name)
      : names_(std::move(names)), name_(std::move(name)) {}

  std::shared_ptr<OpenNames> names_;
  std::string name_;
};

void Append(const WriteBatch::Operation& operation, rocksdb::WriteBatch* batch) {
  switch (operation.kind) {
    case WriteBatch::Operation::Kind::kPut:
      batch->Put(ToSlice(operation.key), ToSlice(operation.value));
      break;
    case WriteBatch::Operation::Kind::kDelete:
      batch->Delete(ToSlice(operation.key));
      break;
    case WriteBatch::Operation::Kind::kDeleteRange:
      batch->DeleteRange(ToSlice(operation.key), ToSlice(operation.value));
      break;
  }
}

// An open database and its name, shared by a store and its views.
struct OpenDb {
  NameLease lease;  // released after the database is closed
  std::unique_ptr<rocksdb::DB> db;
};

// Visits the entries that `read` shows.
Status ScanDb(const OpenDb& open, rocksdb::ReadOptions read, const ScanOptions& options,
              const KeyValueView::Visitor& visitor) {
  if (options.end.has_value() && *options.end <= options.first) return OkStatus();
  const rocksdb::Slice first = ToSlice(options.first);
  rocksdb::Slice end;
  read.iterate_lower_bound = &first;
  if (options.end.has_value()) {
    end = ToSlice(*options.end);
    read.iterate_upper_bound = &end;
  }
  const std::unique_ptr<rocksdb::Iterator> cursor(open.db->NewIterator(read));
  options.backward ? cursor->SeekToLast() : cursor->SeekToFirst();
  while (cursor->Valid() && visitor(ToView(cursor->key()), ToView(cursor->value()))) {
    options.backward ? cursor->Prev() : cursor->Next();
  }
  return FromRocksDb(cursor->status(), "scan", open.lease.name());
}

// Each scan has an iterator of its own: one that lived as long as the view would keep memtables and
// files, not only the overwritten values.
class RocksDbView : public KeyValueView {
 public:
  explicit RocksDbView(std::shared_ptr<const OpenDb> open)
      : open_(std::move(open)), snapshot_(open_->db->GetSnapshot()) {}
  ~RocksDbView() override { open_->db->ReleaseSnapshot(snapshot_); }

  Status Scan(const ScanOptions& options, const Visitor& visitor) const override {
    rocksdb::ReadOptions read;
    read.snapshot = snapshot_;
    read.fill_cache = false;  // a whole partition would displace what is in use
    return ScanDb(*open_, read, options, visitor);
  }

 private:
  const std::shared_ptr<const OpenDb> open_;
  const rocksdb::Snapshot* const snapshot_;
};

class RocksDbStore : public KeyValueStore {
 public:
  RocksDbStore(NameLease lease, std::unique_ptr<rocksdb::DB> db)
      : open_(std::make_shared<OpenDb>(OpenDb{std::move(lease), std::move(db)})) {}

  StatusOr<std::optional<std::string>> Get(std::string_view key) const override {
    std::string value;
    const rocksdb::Status status = open_->db->Get({}, ToSlice(key), &value);
    if (status.IsNotFound()) return std::optional<std::string>();
    NEPTUNE_RETURN_IF_ERROR(FromRocksDb(status, "read", open_->lease.name()));
    return std::optional<std::string>(std::move(value));
  }

  Status Write(const WriteBatch& batch, WriteMode mode) override {
    NEPTUNE_RETURN_IF_ERROR(batch.Check());
    rocksdb::WriteBatch changes(batch.size() + kRecordSizeMax * batch.operations().size());
    for (const WriteBatch::Operation& operation : batch.operations()) Append(operation, &changes);
    rocksdb::WriteOptions options;
    options.sync = mode == WriteMode::kSynced;
    return FromRocksDb(open_->db->Write(options, &changes), "write to", open_->lease.name());
  }

  Status Sync() override { return FromRocksDb(open_->db->SyncWAL(), "sync", open_->lease.name()); }

  Status Scan(const ScanOptions& options, const Visitor& visitor) const override {
    rocksdb::ReadOptions read;
    read.fill_cache = options.fills_cache;
    return ScanDb(*open_, read, options, visitor);
  }

  StatusOr<std::unique_ptr<KeyValueView>> OpenView() const override {
    return std::make_unique<RocksDbView>(open_);
  }

 private:
  const std::shared_ptr<const OpenDb> open_;
};

class RocksDbStorage : public DurableStorage {
 public:
  explicit RocksDbStorage(std::string directory)
      : directory_(std::move(directory)),
        log_files_(MakePosixLogFiles(StrCat(directory_, "/", kLogFolder))) {}

  StatusOr<std::unique_ptr<KeyValueStore>> Open(std::string_view name) override {
    NEPTUNE_ASSIGN_OR_RETURN(NameLease lease, NameLease::Take(open_names_, name));
    NEPTUNE_RETURN_IF_ERROR(PrepareDirectory());
    std::error_code error;
    const bool is_new = !std::filesystem::exists(StrCat(PathOf(name), "/CURRENT"), error);
    rocksdb::DB* db = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(MakeOptions(memory_), PathOf(name), &db);
    NEPTUNE_RETURN_IF_ERROR(FromRocksDb(status, "open", name));
    // RocksDB syncs its own files, but not the directory entry of a new store.
    std::unique_ptr<rocksdb::DB> owned(db);
    if (is_new) NEPTUNE_RETURN_IF_ERROR(SyncDirectory(directory_));
    return std::make_unique<RocksDbStore>(std::move(lease), std::move(owned));
  }

  Status Destroy(std::string_view name) override {
    NEPTUNE_ASSIGN_OR_RETURN(const NameLease lease, NameLease::Take(open_names_, name));
    std::error_code error;
    if (!std::filesystem::exists(PathOf(name), error)) return OkStatus();
    const rocksdb::Status status = rocksdb::DestroyDB(PathOf(name), rocksdb::Options());
    NEPTUNE_RETURN_IF_ERROR(FromRocksDb(status, "destroy", name));
    std::filesystem::remove_all(PathOf(name), error);
    if (error) return ErrnoStatus(error.value(), "remove", PathOf(name));
    return SyncDirectory(directory_);
  }

  StatusOr<std::vector<std::string>> List() const override {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator entry(directory_, error);
    if (error == std::errc::no_such_file_or_directory) return names;
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      std::string name = entry->path().filename();
      const bool is_store = entry->is_directory(error) && CheckStoreName(name).ok();
      if (is_store) names.push_back(std::move(name));
      if (error) break;
    }
    if (error) return ErrnoStatus(error.value(), "list", directory_);
    std::sort(names.begin(), names.end());
    return names;
  }

  LogFiles& log_files() override { return *log_files_; }
  StatusOr<DiskSpace> Space() const override { return SpaceOf(directory_); }

 private:
  std::string PathOf(std::string_view name) const { return StrCat(directory_, "/", name); }

  // Creates the directory, and makes the entries durable that an earlier process may have left.
  Status PrepareDirectory() {
    LeafLock lock(&directory_mutex_);
    if (is_prepared_) return OkStatus();
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    if (error) return ErrnoStatus(error.value(), "create", directory_);
    NEPTUNE_RETURN_IF_ERROR(SyncDirectory(directory_));
    is_prepared_ = true;
    return OkStatus();
  }

  const std::string directory_;
  LeafMutex directory_mutex_;
  bool is_prepared_ ABSL_GUARDED_BY(directory_mutex_) = false;
  const std::unique_ptr<LogFiles> log_files_;
  const SharedMemory memory_;
  const std::shared_ptr<OpenNames> open_names_ = std::make_shared<OpenNames>();
};

}  // namespace

std::unique_ptr<DurableStorage> MakeRocksDbStorage(std::string directory) {
  return std::make_unique<RocksDbStorage>(std::move(directory));
}

}  // namespace neptune
