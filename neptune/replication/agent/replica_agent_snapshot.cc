// Snapshots of ReplicaAgent: sending this member's data, and restoring another member's.

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/replication/agent/replica_agent.h"
#include "neptune/replication/agent/snapshot_message.h"

namespace neptune {
namespace {

// Maximum bytes of log entries read at a time.
constexpr size_t kLogPieceSize = 1u << 20;
// Delay before a failed restore is retried; doubles with each failure up to the maximum.
constexpr Duration kRestorePause = std::chrono::milliseconds(100);
constexpr Duration kRestorePauseMax = std::chrono::seconds(2);
constexpr Duration kRestorePoll = std::chrono::milliseconds(2);

}  // namespace

StatusOr<ReplicaSnapshot> ReplicaAgent::Snapshot() {
  if (state_ == nullptr) return FailedPrecondition("a witness has no data");
  const auto snapshot = std::make_shared<ReplicaSnapshot>();
  NEPTUNE_RETURN_IF_ERROR(OnDevice([state = state_, snapshot] {
    return CollectPieces(*state, kSnapshotSizeMax, snapshot.get());
  }));
  NEPTUNE_ASSIGN_OR_RETURN(const Lsn last, CompleteSnapshot(snapshot));
  if (snapshot->log) NEPTUNE_RETURN_IF_ERROR(CopyLog(last, snapshot));
  return std::move(*snapshot);
}

// Returns the last stored entry.
StatusOr<Lsn> ReplicaAgent::CompleteSnapshot(const std::shared_ptr<ReplicaSnapshot>& snapshot) {
  struct Answer {
    OneShotEvent done;
    std::optional<SnapshotMark> mark;
    Lsn last = 0;
  };
  const auto answer = std::make_shared<Answer>();
  loop_.Post([this, end = snapshot->base.lsn, answer] {
    answer->mark = protocol_->MarkOf(end, log_->first_lsn() - 1);
    answer->last = protocol_->status().committed;
    answer->done.Set();
  });
  if (answer->done.Wait() != ParkResult::kWoken) return Cancelled("the node is stopping");
  if (!answer->mark) return Unavailable("the log no longer has the needed entries");
  static_cast<SnapshotMark&>(*snapshot) = *std::move(answer->mark);
  return answer->last;
}

Status ReplicaAgent::CopyLog(Lsn last, const std::shared_ptr<ReplicaSnapshot>& snapshot) {
  size_t size = 0;
  const Lsn base = snapshot->log->base;
  while (base + snapshot->log->entries.size() < last) {
    const auto read = std::make_shared<std::vector<LogEntry>>();
    const Status status = OnDevice(
        [log = log_, last, read, first = base + snapshot->log->entries.size() + 1]() -> Status {
          NEPTUNE_ASSIGN_OR_RETURN(*read, log->Read(first, last, kLogPieceSize));
          return OkStatus();
        });
    if (status.code() == StatusCode::kNotFound)
      return Unavailable("the log no longer has the needed entries");
    NEPTUNE_RETURN_IF_ERROR(status);
    for (LogEntry& entry : *read) {
      size += entry.payload.size();
      snapshot->log->entries.push_back(std::move(entry));
    }
    if (size > kSnapshotSizeMax) {
      return ResourceExhausted("the log is larger than ", kSnapshotSizeMax,
                               " bytes and is not sent");
    }
  }
  return OkStatus();
}

void ReplicaAgent::BeginRestore(MemberIndex from) {
  if (restoring_ || state_ == nullptr) return;
  restoring_ = true;
  SpawnOn(*hooks_.control, "restore", [this, from] {
    const Status status = Restore(from);
    LOG_IF(WARNING, !status.ok()) << "restoring " << options_.identity.service << "/"
                                  << options_.identity.partition << ": " << status;
    NoteRestore(status);
    if (!status.ok()) this_thread::SleepFor(restore_pause_);
    restoring_ = false;
    LeafLock lock(&mutex_);
    published_.is_restoring = false;
  });
}

void ReplicaAgent::NoteRestore(const Status& status) {
  restore_pause_ = status.ok()
                       ? Duration{0}
                       : std::clamp<Duration>(2 * restore_pause_, kRestorePause, kRestorePauseMax);
  LeafLock lock(&mutex_);
  published_.restore_failure = Annotate(status, "restoring another member's data");
}

Status ReplicaAgent::Restore(MemberIndex from) {
  NEPTUNE_ASSIGN_OR_RETURN(ReplicaSnapshot fetched, hooks_.fetch(from));
  const auto snapshot = std::make_shared<ReplicaSnapshot>(std::move(fetched));
  ThreadLock lock(&state_mutex_);
  const EpochStart base = snapshot->base;
  if (is_write_anywhere()) {
    // The log stays empty until it is stored below; data found ahead of the log after a crash are
    // emptied at the next start.
    NEPTUNE_RETURN_IF_ERROR(AdoptData(snapshot));
    NEPTUNE_RETURN_IF_ERROR(EndRestore(base.lsn));
    protocol_->Handle(DataRestored{std::move(*snapshot)}, loop_.Now());
    // Their LSNs now belong to other entries.
    FailWriters("the replica restored another member's data before the write was stored");
    if (pump_) pump_->Wake();
    return OkStatus();
  }
  if (executed_ >= base.lsn) return OkStatus();
  NEPTUNE_RETURN_IF_ERROR(AdoptData(snapshot));
  protocol_->Handle(DataRestored{std::move(*snapshot)}, loop_.Now());
  // The data count once their log is stored.
  while (!stopping_ && log_->last_lsn() < base.lsn) {
    if (pump_) pump_->Wake();
    if (this_thread::SleepFor(kRestorePoll) == ParkResult::kStopping) break;
  }
  return EndRestore(base.lsn);
}

Status ReplicaAgent::AdoptData(const std::shared_ptr<ReplicaSnapshot>& snapshot) {
  {
    LeafLock state_lock(&mutex_);
    published_.is_restoring = true;
    published_.current_as_of = TimePoint::min();
  }
  ++restore_count_;
  const Status restored = OnDevice([state = state_, snapshot]() -> Status {
    NEPTUNE_RETURN_IF_ERROR(state->BeginRestore());
    for (const std::string& piece : snapshot->pieces) {
      NEPTUNE_RETURN_IF_ERROR(state->RestorePiece(piece));
    }
    return OkStatus();
  });
  if (!restored.ok()) Fail(restored);  // the old data are gone
  return restored;
}

Status ReplicaAgent::EndRestore(Lsn completed) {
  const Status ended =
      OnDevice([state = state_, completed] { return state->EndRestore(completed); });
  if (!ended.ok()) {
    Fail(ended);
    return ended;
  }
  executing_to_ = completed;
  executed_ = completed;
  return OkStatus();
}

}  // namespace neptune
