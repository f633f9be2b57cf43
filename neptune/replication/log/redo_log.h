// The REDO log of one partition on one replica, in the log of its node.
//
//   first_lsn                committed            last_lsn
//   ├──── executed or to be ─────┤──── received ──────┤
//
// The entries before first_lsn are in the data, or in a snapshot.
//
// A change for which Store returned OK survives a crash (it is synced); an unfinished Store is
// atomic. If anything that was acknowledged is lost nevertheless, the log is damaged: it can only
// continue empty after Forget, as the log of a member that has forgotten what it promised and asks
// the others. It is never shorter than it was without saying so.
//
// Source: [Shen02] 5.2.2 (write log with a committed and an uncommitted part).
// Departs from source: the part known to be committed may be smaller than the committed part; votes
//   and epochs are stored with the log.
// Threads: Store, StoreTogether, DropBefore and Forget one at a time; Read any time. All block the
//   kernel thread, so callers run them in a device capsule.
// Errors: Open: kFailedPrecondition the log of another cluster, service, partition, node, kind of
//   order or membership; those of NodeLog. Store: those of SharedLog; afterwards the log must be
//   opened again. All but Open and Forget: kDataLoss the log is damaged.
// Limits: kLogCacheSizeMax bytes of the newest entries are cached for Read.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "neptune/base/leaf_mutex.h"
#include "neptune/base/status.h"
#include "neptune/replication/log/log_entry.h"
#include "neptune/replication/log/log_identity.h"
#include "neptune/replication/log/log_outline.h"
#include "neptune/replication/log/log_position.h"
#include "neptune/replication/log/log_window.h"
#include "neptune/replication/log/node_log.h"
#include "neptune/replication/log/shared_log.h"

namespace neptune {

inline constexpr size_t kLogCacheSizeMax = 4u << 20;

class RedoLog {
 public:
  // Opens the log of this name, and reads and checks every entry. If there is none, it is stored
  // with its first change.
  static StatusOr<std::unique_ptr<RedoLog>> Open(NodeLog& node_log, std::string_view name,
                                                 const LogIdentity& identity,
                                                 size_t cache_size_max = kLogCacheSizeMax);

  // The outline that Open found, or Forget made.
  const LogOutline& opened() const { return opened_; }
  // kDataLoss: what Open found to be lost.
  const Status& damage() const { return damage_; }
  // Empties a damaged log, which becomes one that has forgotten its promises: not founded, and at
  // an ordered level in an epoch, so that it does not count as new.
  Status Forget();

  // Stores the change in one synced batch; it is durable when this returns OK.
  // Errors: kInvalidArgument entries that do not follow the last one, are too large, or would be
  //   truncated although committed or in the data; the log is unchanged. Any other error: the
  //   stored state is unknown until the log is opened again.
  Status Store(const LogChange& change);

  // A change for StoreTogether, and its result.
  struct Request {
    RedoLog* log = nullptr;
    const LogChange* change = nullptr;
    Status result;
  };
  // Like Store for each, of different logs, with as few syncs as possible.
  static void StoreTogether(std::vector<Request>& requests);

  // Reads entries from `first` to at most `last` and size_max bytes, but at least one.
  // Errors: kNotFound `first` is dropped or not in the log yet; kDataLoss, and then the log counts
  //   as damaged when it is opened again.
  StatusOr<std::vector<LogEntry>> Read(Lsn first, Lsn last, size_t size_max) const;

  // Drops the entries before `first`, which the data must contain durably. The outline keeps what
  // it needs of them.
  Status DropBefore(Lsn first);

  // What of it was found to be lost since Open. Entries that the data contain may be dropped, which
  // heals the log.
  SharedLog::Damage decay() const { return log_->DamageOf(found_.partition); }

  Lsn first_lsn() const;
  Lsn last_lsn() const;
  // Total stored bytes of all entries.
  size_t size() const;

 private:
  RedoLog(NodeLog::Attached attached, const LogIdentity& identity, size_t cache_size_max);

  Status TakeOver();
  Status Load();
  Status LoadEntries(Lsn last);
  Status CheckUsable() const;
  Status Check(const LogChange& change) const;
  void DropInMemory(const LogChange& change);
  // Applies all but the entries in memory, and returns what is to be written.
  PartitionChange Prepare(const LogChange& change);
  // The change has been written, or not.
  void Finish(const LogChange& change, const PartitionChange& written, const Status& result);
  // What is stored with each change.
  PartitionChange StateNow() const;
  Status Commit(PartitionChange change);
  StatusOr<std::vector<LogEntry>> ReadStored(Lsn first, Lsn last, size_t size_max) const;

  const std::shared_ptr<SharedLog> log_;
  const SharedLog::Found found_;
  LogIdentity identity_;
  LogOutline opened_;
  Status damage_;

  // Used only by the thread that changes the log.
  HardState promise_;
  Lsn committed_ = 0;
  LogPosition position_;
  bool is_identity_stored_ = false;
  Status broken_;

  mutable LeafMutex mutex_;
  LogWindow window_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace neptune
