// Durable storage of a host: named key-value stores that survive a crash.
//
// The real world keeps each store in RocksDB (world/real/rocksdb_storage.h), the simulated world in
// memory that models unsynced and torn writes (world/sim/sim_storage.h). Both pass the suite in
// storage_conformance.h.
//
// Threads: thread-safe in the real world; the simulated world has one kernel thread. All calls
//   block the kernel thread in the real world, a synced write for a disk's flush: loops call them
//   through a device capsule, or run on background priority. In the simulated world they take no
//   virtual time.
// Durability: a store's writes form one order. After a crash the store holds exactly the first n of
//   them, each whole or not at all; n counts at least everything up to the last synced write.
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

inline constexpr size_t kStorageKeySizeMax = 1024;
inline constexpr size_t kStorageValueSizeMax = 64u << 20;
inline constexpr size_t kWriteBatchSizeMax = 256u << 20;

// Changes that become visible and durable together. Later ones win over earlier ones.
class WriteBatch {
 public:
  struct Operation {
    enum class Kind { kPut, kDelete, kDeleteRange };
    Kind kind;
    std::string key;
    std::string value;  // kDeleteRange: the end of the range
  };

  void Put(std::string_view key, std::string_view value);
  // A key that is not there is fine.
  void Delete(std::string_view key);
  // Removes all keys in [first, end); nothing if first >= end.
  void DeleteRange(std::string_view first, std::string_view end);
  void Clear();

  const std::vector<Operation>& operations() const { return operations_; }
  // Bytes of keys and values.
  size_t size() const { return size_; }
  // OK if keys, values and the whole keep the limits.
  Status Check() const;

 private:
  void Add(Operation::Kind kind, std::string_view key, std::string_view value);

  std::vector<Operation> operations_;
  size_t size_ = 0;
};

enum class WriteMode {
  kBuffered,  // survives the process, and a crash of the host once a later write or Sync is synced
  kSynced,    // on disk when Write returns, and all writes before it
};

struct ScanOptions {
  // Keys in [first, end), bytes compared as unsigned. An absent end: to the last key.
  std::string first;
  std::optional<std::string> end;
  bool backward = false;  // from the largest key to the smallest
};

class KeyValueStore {
 public:
  // Gets each entry in order; false ends the scan. The views are valid during the call. It must not
  // write to the store.
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;

  virtual ~KeyValueStore() = default;

  // The value of the key, or nullopt if there is none.
  virtual StatusOr<std::optional<std::string>> Get(std::string_view key) const = 0;

  // Applies the batch whole, or not at all if it returns an error other than UNAVAILABLE, after
  // which the batch may or may not be there (as after a crash).
  virtual Status Write(const WriteBatch& batch, WriteMode mode) = 0;

  // Makes all writes so far durable.
  virtual Status Sync() = 0;

  // Visits the entries within the bounds, as they were when the scan began.
  virtual Status Scan(const ScanOptions& options, const Visitor& visitor) const = 0;

  Status Put(std::string_view key, std::string_view value, WriteMode mode);
};

class DurableStorage {
 public:
  virtual ~DurableStorage() = default;

  // Opens the store, new and empty if there is none. One at a time may be open for a name; the
  // object closes it. Closing syncs nothing and loses nothing that a running host keeps. REQUIRES:
  // 1 to 100 characters out of a-z, 0-9, '_', '-' and '.', not beginning with '.'.
  virtual StatusOr<std::unique_ptr<KeyValueStore>> Open(std::string_view name) = 0;

  // Removes the store and all it holds; OK if there is none.
  // Errors: FAILED_PRECONDITION it is open.
  virtual Status Destroy(std::string_view name) = 0;

  // The names of all stores, in order.
  virtual StatusOr<std::vector<std::string>> List() const = 0;
};

// OK if the name is one that Open takes.
Status CheckStoreName(std::string_view name);

}  // namespace neptune
