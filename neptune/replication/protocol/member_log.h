// A member's log as seen by its protocol: contents, stored and committed positions, pending
// changes.
//
// Appended entries count at once; NextChange returns them for storing, and Stored reports that they
// are stored.
//
// Source: [Shen02] 5.2.2 (committed and uncommitted part).
// No I/O, no clock.
// Threads: thread-compatible.

#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "neptune/replication/log/log_position.h"
#include "neptune/replication/protocol/replica_message.h"
#include "neptune/replication/protocol/replica_snapshot.h"
#include "neptune/replication/protocol/replica_status.h"

namespace neptune {

class MemberLog : private LogPosition {
 public:
  explicit MemberLog(const LogOutline& found);

  using LogPosition::base;
  using LogPosition::DropBefore;
  using LogPosition::EpochAt;
  using LogPosition::EpochBegin;
  using LogPosition::last_epoch;
  using LogPosition::last_lsn;
  using LogPosition::write_set;
  using LogPosition::WriteSetAt;

  // Last LSN that is durable on this member, and last LSN known to be committed.
  Lsn stored() const { return stored_; }
  Lsn committed() const { return committed_; }
  // See ReplicaStatus::committed.
  Lsn executable() const { return std::min(committed_, stored_); }
  const std::optional<ReplicaFreshness>& freshness() const { return freshness_; }

  // REQUIRES: entry.lsn == last_lsn() + 1.
  void Append(LogEntry entry);
  // Appends a change of the write set.
  void AppendWriteSet(MemberSet members, Epoch epoch);
  // True if the log has the entry of this LSN and epoch, or its data contain that LSN.
  bool Covers(const EpochStart& entry) const;
  // The mark of data that end with `lsn`; nullopt: the log does not have that entry.
  std::optional<SnapshotMark> MarkOf(Lsn lsn) const;

  // Applies a primary's append: new entries, and the commit position. `fits`: both logs are the
  // same up to `matched`; otherwise the primary should look for a match at `matched`. nullopt: the
  // message is invalid, e.g. contradicts committed entries.
  struct Match {
    bool fits = false;
    Lsn matched = 0;
  };
  std::optional<Match> Take(ReplicaMessage& append);
  // Raises the committed position to at least `lsn`.
  void Commit(Lsn lsn) { committed_ = std::max(committed_, lsn); }
  // Drops everything; the data end with `base`.
  void Restart(const EpochStart& base, MemberSet write_set);
  // Adds the promise to the next change.
  void Promise(const HardState& promise) { change_.promise = promise; }
  // False while a promise is not durable.
  bool has_stored_promise() const { return !change_.promise && promise_number_ == 0; }

  // Returns the changes not yet handed out. The number is this change's, or the last one's if there
  // is nothing to store.
  struct NumberedChange {
    uint64_t number = 0;
    LogChange change;
  };
  NumberedChange NextChange();
  // Reports that change `number`, and thus all earlier ones, are stored.
  void Stored(uint64_t number);

 private:
  struct PendingChange {
    uint64_t number = 0;
    Lsn last_lsn = 0;
  };

  bool AdoptEntries(ReplicaMessage& append);
  void Learn(const ReplicaMessage& append, Lsn matched);
  void DropFrom(Lsn lsn);

  Lsn committed_ = 0;
  Lsn stored_ = 0;
  std::optional<ReplicaFreshness> freshness_;
  LogChange change_;
  uint64_t change_number_ = 0;
  uint64_t promise_number_ = 0;  // the last change with a promise; 0: it is stored
  std::deque<PendingChange> pending_;
};

}  // namespace neptune
