// Durable storage of a host: named key-value stores, and files of logs, that survive crashes.
//
// The real world keeps each store in RocksDB (world/real/rocksdb_storage.h), the simulated world in
// memory that models unsynced and torn writes (world/sim/sim_storage.h). Both pass the suite in
// storage_conformance.h.
//
// Threads: thread-safe in the real world; the simulated world has one kernel thread. In the real
//   world all calls block the kernel thread, a synced write for the duration of a disk flush: loops
//   call them through a device capsule, or run on background priority. In the simulated world they
//   take no virtual time.
// Durability: a store's writes form one order. After a crash the store holds exactly the first n of
// them, each whole or not at all; n includes at least everything up to the last synced write.
// Errors: INVALID_ARGUMENT name, key or batch against the limits; DATA_LOSS stored bytes are
//   damaged; FAILED_PRECONDITION the store is open already; RESOURCE_EXHAUSTED the disk is full;
//   UNAVAILABLE the disk refuses, or (simulated) the host crashed since the store was opened.
// Limits: kStorageKeySizeMax, kStorageValueSizeMax, kWriteBatchSizeMax bytes; names see Open.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neptune/base/status.h"

namespace neptune {

class LogFiles;

inline constexpr size_t kStorageKeySizeMax = 1024;
inline constexpr size_t kStorageValueSizeMax = 64u << 20;
inline constexpr size_t kWriteBatchSizeMax = 256u << 20;

// Changes that become visible and durable atomically. Later operations override earlier ones.
class WriteBatch {
 public:
  struct Operation {
    enum class Kind { kPut, kDelete, kDeleteRange };
    Kind kind;
    std::string key;
    std::string value;  // kDeleteRange: the end of the range
  };

  void Put(std::string_view key, std::string_view value);
  // OK if the key does not exist.
  void Delete(std::string_view key);
  // Removes all keys in [first, end); no effect if first >= end.
  void DeleteRange(std::string_view first, std::string_view end);
  void Clear();

  const std::vector<Operation>& operations() const { return operations_; }
  // Total size of keys and values in bytes.
  size_t size() const { return size_; }
  // Returns OK if keys, values and the whole batch are within the limits.
  Status Check() const;

 private:
  void Add(Operation::Kind kind, std::string_view key, std::string_view value);

  std::vector<Operation> operations_;
  size_t size_ = 0;
};

enum class WriteMode {
  kBuffered,  // survives the process, and a crash of the host once a later write or Sync is synced
  kSynced,    // on disk when Write returns, with all writes before it
};

struct ScanOptions {
  // Keys in [first, end), compared as unsigned bytes. No `end`: up to the last key.
  std::string first;
  std::optional<std::string> end;
  bool backward = false;  // from the largest key to the smallest
  // False: what is read does not displace what is cached, for scans of everything.
  bool fills_cache = true;
};

// The entries of a store as they were at one point in its order of writes, whatever is written
// afterwards.
//
// Cost: what is overwritten or deleted meanwhile keeps its space until the view is destroyed.
class KeyValueView {
 public:
  // Called with each entry in order; returns false to end the scan. The views are valid during the
  // call. It must not write to the store.
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;

  virtual ~KeyValueView() = default;
  // Visits the entries within the bounds.
  virtual Status Scan(const ScanOptions& options, const Visitor& visitor) const = 0;
};

class KeyValueStore {
 public:
  using Visitor = KeyValueView::Visitor;

  virtual ~KeyValueStore() = default;

  // Returns the value of the key, or nullopt if there is none.
  virtual StatusOr<std::optional<std::string>> Get(std::string_view key) const = 0;

  // Applies the batch atomically. On error nothing was applied, except after UNAVAILABLE, where the
  // batch may or may not have been applied (as after a crash).
  virtual Status Write(const WriteBatch& batch, WriteMode mode) = 0;

  // Makes all writes so far durable.
  virtual Status Sync() = 0;

  // Visits the entries within the bounds, in the state at the beginning of the scan.
  virtual Status Scan(const ScanOptions& options, const Visitor& visitor) const = 0;

  // Opens a view of the present contents. It may outlive this object; the store's name counts as
  // open until both are destroyed.
  virtual StatusOr<std::unique_ptr<KeyValueView>> OpenView() const = 0;

  Status Put(std::string_view key, std::string_view value, WriteMode mode);
};

struct DiskSpace;

class DurableStorage {
 public:
  virtual ~DurableStorage() = default;

  // Opens the store; creates it if it does not exist. A name can be open only once at a time;
  // destroying the object closes the store. Closing does not sync, and loses nothing while the host
  // keeps running. REQUIRES: 1 to 100 characters from a-z, 0-9, '_', '-' and '.', not beginning
  // with '.'.
  virtual StatusOr<std::unique_ptr<KeyValueStore>> Open(std::string_view name) = 0;

  // Removes the store and its contents; OK if there is none.
  // Errors: FAILED_PRECONDITION it is open.
  virtual Status Destroy(std::string_view name) = 0;

  // Returns the names of all stores in ascending order.
  virtual StatusOr<std::vector<std::string>> List() const = 0;

  // The files of the host's logs, which are beside its stores (log_files.h).
  virtual LogFiles& log_files() = 0;
  // Space of the disk that holds the stores; see disk_room.h. Blocks as other calls do. Default:
  // unbounded.
  virtual StatusOr<DiskSpace> Space() const;
};

// Returns OK if the name is valid for Open.
Status CheckStoreName(std::string_view name);

}  // namespace neptune
