// A replica's log on its device: opening, storing changes, reading entries for members and
// snapshots.
//
// Threads: all calls that take the device park and run on a user-level thread; Store and DropBefore
//   one at a time.
// Errors: those of RedoLog and of ReplicaDevice.

#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/replication/agent/acceptance_clock.h"
#include "neptune/replication/agent/log_committer.h"
#include "neptune/replication/agent/replica_device.h"
#include "neptune/replication/agent/unstored_changes.h"
#include "neptune/replication/log/origin_index.h"
#include "neptune/replication/log/redo_log.h"
#include "neptune/replication/protocol/protocol_actions.h"

namespace neptune {

class ReplicaLog {
 public:
  // The references must outlive this object.
  ReplicaLog(const ReplicaDevice& device, LogCommitter& committer, const LogIdentity& identity);

  Status Open();
  // kDataLoss: what Open found to be lost; the log can be used only after Forget.
  const Status& damage() const { return log_->damage(); }
  // Empties the log, which becomes that of a member that has forgotten its promises.
  Status Forget();
  // Closes the log and blocks the kernel thread meanwhile. REQUIRES: no other call is under way.
  void Close();
  // Stores a change without content: OK if the disk takes writes. REQUIRES: no damage.
  Status Prove();

  // What Open found, or Forget made.
  const LogOutline& found() const { return log_->opened(); }
  Lsn first_lsn() const { return log_->first_lsn(); }
  Lsn last_lsn() const { return log_->last_lsn(); }
  size_t size() const { return log_->size(); }
  // What was found to be lost since Open.
  SharedLog::Damage decay() const { return log_->decay(); }

  // Builds the index of a log of `write_anywhere`.
  StatusOr<OriginIndex> Index() const;
  // Stores the change atomically; a restart of a log of `write_anywhere` in pieces, if it is large.
  Status Store(const std::shared_ptr<LogChange>& change);
  Status DropBefore(Lsn first);
  // Learns the times of the writes that the log has.
  Status NoteAccepted(AcceptanceClock& accepted) const;
  // Called when nothing was stored for a while.
  Status Settle();

  // Reads entries from `first` to at most `last` and size_max bytes, but at least one.
  StatusOr<std::vector<LogEntry>> Read(Lsn first, Lsn last, size_t size_max,
                                       ReplicaLane lane = ReplicaLane::kApply) const;
  // The same, on a thread of the device; blocks.
  StatusOr<std::vector<LogEntry>> ReadHere(Lsn first, Lsn last, size_t size_max) const {
    return log_->Read(first, last, size_max);
  }
  // Removes from the front of `places` what fits into a message and returns these entries: from
  // `unstored` if the first is not stored yet, otherwise from the log. Errors: kNotFound they were
  // dropped meanwhile.
  StatusOr<std::vector<LogEntry>> ReadForMessage(std::deque<LogRun>& places,
                                                 const UnstoredChanges& unstored) const;

 private:
  const ReplicaDevice& device_;
  LogCommitter& committer_;
  const LogIdentity& identity_;
  std::shared_ptr<RedoLog> log_;
};

}  // namespace neptune
