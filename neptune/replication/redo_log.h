// The REDO log of one partition on one replica, in durable storage.
//
//   first_lsn                committed            last_lsn
//   ├──── executed or to be ─────┤──── received ──────┤        what is before first_lsn is in the data, or in a snapshot
//
// Every entry has a checksum. What Store returned OK for survives a crash (it is synced); of an unfinished Store all or
// nothing is there. An entry that is damaged all the same is not executed, and neither is any after it: the log does not
// open, for what it held had been acknowledged. The stored form, with an example, is in README.md.
//
// Source: [Shen02] 5.2.2 (write log with a committed and an uncommitted part).
// Departs from source: the part that is known to be committed may be less than what is; votes and epochs are kept with it.
// Threads: Store and DropBefore one at a time; Read any time. Both block the kernel thread: callers ship them to a device
//   capsule.
// Errors: Open: kDataLoss damaged or incomplete; kFailedPrecondition the log of another cluster, service, partition, node,
//   kind of order or membership. Store: those of the storage; after one the log must be opened again.
// Limits: kLogCacheSizeMax bytes of the newest entries are kept in memory for Read.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/replication/log_entry.h"
#include "neptune/replication/log_outline.h"
#include "neptune/replication/log_position.h"
#include "neptune/replication/log_window.h"
#include "neptune/world/storage.h"

namespace neptune {

inline constexpr size_t kLogCacheSizeMax = 4u << 20;

// Whose log it is; one of another identity is refused.
struct LogIdentity {
  std::string cluster;
  ServiceName service;
  PartitionId partition;
  NodeId node;
  // All members have one order; else each log has its own (level 1), and its entries mean something else.
  bool is_ordered = true;
  // Of the service, so that each key is where it was; 0: not known, and not compared.
  uint32_t partition_count = 0;
  // Of an ordered log: what a MemberIndex in it means. A node may take another's place; else they have to be the same.
  std::vector<NodeId> members;
};

class RedoLog {
 public:
  // `store` is the log's alone and outlives it. An empty one becomes a new log. Reads and checks every entry.
  static StatusOr<std::unique_ptr<RedoLog>> Open(KeyValueStore& store, const LogIdentity& identity,
                                                 size_t cache_size_max = kLogCacheSizeMax);

  // As it was found by Open.
  const LogOutline& opened() const { return opened_; }

  // The change is durable when this returns OK: one synced batch.
  // Errors: kInvalidArgument entries that do not follow, are too large, or are dropped although they are committed or in
  //   the data: nothing has changed. Any other: what is stored is known only when the log has been opened again.
  Status Store(const LogChange& change);

  // Entries from `first` on, at least one if there is one, and no more than make up size_max bytes or reach `last`.
  // Errors: kNotFound `first` is dropped or not here yet; kDataLoss.
  StatusOr<std::vector<LogEntry>> Read(Lsn first, Lsn last, size_t size_max) const;

  // Drops what is before `first`: the data have it durably. Keeps what it needs of it for the outline. A crash may undo it.
  Status DropBefore(Lsn first);

  Lsn first_lsn() const;
  Lsn last_lsn() const;
  // Bytes of all entries.
  size_t size() const;

 private:
  RedoLog(KeyValueStore& store, size_t cache_size_max);

  Status Found(const LogIdentity& identity);
  Status TakeOver(std::string_view found, const LogIdentity& identity);
  Status Load();
  Status LoadEntries(Lsn last);
  Status CheckUsable() const;
  Status Check(const LogChange& change) const;
  void DropInMemory(const LogChange& change);
  Status Write(const WriteBatch& batch, WriteMode mode);
  std::string EncodeState() const;
  StatusOr<std::vector<LogEntry>> ReadStored(Lsn first, Lsn last, size_t size_max) const;

  KeyValueStore& store_;
  LogOutline opened_;

  // Of the thread that changes the log.
  HardState promise_;
  Lsn committed_ = 0;
  LogPosition position_;
  Status broken_;

  mutable LeafMutex mutex_;
  LogWindow window_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
