// The REDO log of one partition on one replica, in durable storage.
//
//   first_lsn                committed            last_lsn
//   ├──── executed or to be ─────┤──── received ──────┤
//
// The entries before first_lsn are in the data, or in a snapshot.
//
// Every entry has a checksum. A change for which Store returned OK survives a crash (it is synced);
// an unfinished Store is atomic. If an entry is damaged nevertheless, the log does not open, so
// neither it nor any later entry is executed: the log's contents had been acknowledged. README.md
// has the stored format with an example.
//
// Source: [Shen02] 5.2.2 (write log with a committed and an uncommitted part).
// Departs from source: the part known to be committed may be smaller than the committed part; votes
//   and epochs are stored with the log.
// Threads: Store and DropBefore one at a time; Read any time. All block the kernel thread, so
//   callers run them in a device capsule.
// Errors: Open: kDataLoss damaged or incomplete; kFailedPrecondition the log of another cluster,
//   service, partition, node, kind of order or membership. Store: those of the storage; afterwards
//   the log must be opened again.
// Limits: kLogCacheSizeMax bytes of the newest entries are cached for Read.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/replication/log/log_entry.h"
#include "neptune/replication/log/log_identity.h"
#include "neptune/replication/log/log_outline.h"
#include "neptune/replication/log/log_position.h"
#include "neptune/replication/log/log_window.h"
#include "neptune/world/storage.h"

namespace neptune {

inline constexpr size_t kLogCacheSizeMax = 4u << 20;

class RedoLog {
 public:
  // `store` belongs to the log exclusively and must outlive it. An empty store becomes a new log.
  // Reads and checks every entry.
  static StatusOr<std::unique_ptr<RedoLog>> Open(KeyValueStore& store, const LogIdentity& identity,
                                                 size_t cache_size_max = kLogCacheSizeMax);

  // The outline that Open found.
  const LogOutline& opened() const { return opened_; }

  // Stores the change in one synced batch; it is durable when this returns OK.
  // Errors: kInvalidArgument entries that do not follow the last one, are too large, or would be
  //   truncated although committed or in the data; the log is unchanged. Any other error: the
  //   stored state is unknown until the log is opened again.
  Status Store(const LogChange& change);

  // Reads entries from `first` to at most `last` and size_max bytes, but at least one.
  // Errors: kNotFound `first` is dropped or not in the log yet; kDataLoss.
  StatusOr<std::vector<LogEntry>> Read(Lsn first, Lsn last, size_t size_max) const;

  // Drops the entries before `first`, which the data must contain durably. The outline keeps what
  // it needs of them. A crash may undo the drop.
  Status DropBefore(Lsn first);

  Lsn first_lsn() const;
  Lsn last_lsn() const;
  // Total stored bytes of all entries.
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

  // Used only by the thread that changes the log.
  HardState promise_;
  Lsn committed_ = 0;
  LogPosition position_;
  Status broken_;

  mutable LeafMutex mutex_;
  LogWindow window_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
