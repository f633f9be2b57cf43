#include "neptune/replication/agent/replica_data.h"

#include <algorithm>
#include <utility>

#include "neptune/replication/state/snapshot_pieces.h"
#include "neptune/world/loop.h"

namespace neptune {
namespace {

// Bounds of the entries that are executed together: their bytes, their number, and the time after
// which no further one begins. Larger: less work for each write; the first of them is answered
// later, as all are answered together.
constexpr size_t kExecuteSizeMax = 256u << 10;
constexpr Lsn kExecuteCountMax = 512;
constexpr Duration kExecuteTimeMax = std::chrono::milliseconds(2);

std::vector<const LogEntry*> WritesOf(const std::vector<LogEntry>& entries) {
  std::vector<const LogEntry*> writes;
  for (const LogEntry& entry : entries) {
    if (IsWrite(entry.kind)) writes.push_back(&entry);
  }
  return writes;
}

}  // namespace

Status ReplicaData::Noted(Status status) const {
  if (status.code() == StatusCode::kDataLoss) is_damaged_ = true;
  return status;
}

Status ReplicaData::OpenHere() {
  StatusOr<std::unique_ptr<ReplicatedState>> state = open_();
  NEPTUNE_RETURN_IF_ERROR(Noted(state.status()));
  state_ = *std::move(state);
  is_open_ = true;
  return OkStatus();
}

Status ReplicaData::Open() {
  if (open_ == nullptr) return OkStatus();
  return device_.Run(ReplicaLane::kApply, [this] { return OpenHere(); });
}

Status ReplicaData::Destroy() {
  return device_.Run(ReplicaLane::kApply, [this]() -> Status {
    if (destroy_ == nullptr) {
      if (state_ == nullptr) NEPTUNE_RETURN_IF_ERROR(OpenHere());
      NEPTUNE_RETURN_IF_ERROR(state_->BeginRestore());  // reopening then finds it empty
    }
    Close();
    NEPTUNE_RETURN_IF_ERROR(destroy_ == nullptr ? OkStatus() : destroy_());
    is_damaged_ = false;
    is_distrusted_ = false;
    return OkStatus();
  });
}

void ReplicaData::Close() {
  is_open_ = false;
  state_.reset();
}

Status ReplicaData::CloseOnDevice() {
  return device_.Run(ReplicaLane::kApply, [this] {
    Close();
    return OkStatus();
  });
}

void ReplicaData::BeginAfter(Lsn log_base) {
  const bool counts = exists() && !is_distrusted_;
  executed_ = counts ? std::max(state_->completed(), log_base) : exists() ? log_base : 0;
  executing_to_ = executed_.load();
}

Status ReplicaData::Discard() {
  NEPTUNE_RETURN_IF_ERROR(device_.Run(ReplicaLane::kApply, [state = state_]() -> Status {
    NEPTUNE_RETURN_IF_ERROR(state->BeginRestore());
    SnapshotWriter nothing;
    nothing.End(0);
    while (nothing.size() > 0) {
      NEPTUNE_RETURN_IF_ERROR(state->RestorePiece(nothing.TakePiece(kSnapshotPieceSizeMin)));
    }
    return state->EndRestore().status();
  }));
  is_distrusted_ = false;
  return OkStatus();
}

StatusOr<std::vector<ExecutedEntry>> ReplicaData::ExecuteSome(
    const ReplicaLog& log, const std::function<void(const LogEntry&)>& before_write) {
  const Lsn to = executable_;
  std::vector<ExecutedEntry> done;
  ThreadLock lock(&mutex_);
  if (executed_ >= to) return done;  // a restore happened meanwhile
  if (is_distrusted_) NEPTUNE_RETURN_IF_ERROR(Discard());
  const Loop& loop = *Loop::Current();
  std::vector<LogEntry> entries;
  Status read;
  const auto read_some = [&] {
    StatusOr<std::vector<LogEntry>> some =
        log.ReadHere(executed_ + 1, std::min(to, executed_ + kExecuteCountMax), kExecuteSizeMax);
    if (some.ok()) entries = *std::move(some);
    read = some.status();
    return read;
  };
  if (before_write) {
    (void)device_.Run(ReplicaLane::kApply, read_some);
    for (const LogEntry& entry : entries) {
      if (IsWrite(entry.kind)) before_write(entry);
    }
  }
  const Status executed = device_.Run(ReplicaLane::kApply, [&]() -> Status {
    if (!before_write) NEPTUNE_RETURN_IF_ERROR(read_some());
    NEPTUNE_RETURN_IF_ERROR(read);
    const TimePoint end = loop.Now() + kExecuteTimeMax;
    return ExecuteHere(
        entries, [&] { return loop.Now() >= end; }, done);
  });
  // The log may have been restarted.
  if (read.code() == StatusCode::kNotFound && executable_ < to) return done;
  NEPTUNE_RETURN_IF_ERROR(Noted(executed));
  if (!done.empty()) executed_ = done.back().entry.lsn;
  executing_to_ = executed_.load();
  return done;
}

// One run of writes, and the other entries before and after them.
Status ReplicaData::ExecuteHere(std::vector<LogEntry>& entries,
                                const std::function<bool()>& is_over,
                                std::vector<ExecutedEntry>& done) {
  if (entries.empty()) return OkStatus();
  executing_to_ = entries.back().lsn;
  const std::vector<const LogEntry*> writes = WritesOf(entries);
  std::vector<WriteOutcome> outcomes;
  if (!writes.empty()) {
    NEPTUNE_ASSIGN_OR_RETURN(outcomes, state_->ApplyRun(writes, is_over));
  }
  size_t write_count = 0;
  for (LogEntry& entry : entries) {
    WriteOutcome outcome;
    if (IsWrite(entry.kind)) {
      if (write_count == outcomes.size()) break;
      outcome = std::move(outcomes[write_count++]);
    }
    done.push_back({std::move(entry), std::move(outcome)});
  }
  return OkStatus();
}

StatusOr<Lsn> ReplicaData::Flush() {
  const auto flushed = std::make_shared<Lsn>(0);
  ThreadLock lock(&mutex_);
  if (is_distrusted_) return executed_.load();
  NEPTUNE_RETURN_IF_ERROR(device_.Run(ReplicaLane::kApply, [state = state_, flushed]() -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(*flushed, state->Flush());
    return OkStatus();
  }));
  return *flushed;
}

StatusOr<std::unique_ptr<SnapshotSource>> ReplicaData::OpenSnapshot() const {
  if (is_distrusted_) return Unavailable("the data are not known to be current");
  std::unique_ptr<SnapshotSource> source;
  NEPTUNE_RETURN_IF_ERROR(Noted(device_.Run(ReplicaLane::kSnapshot, [&]() -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(source, state_->OpenSnapshot());
    return OkStatus();
  })));
  return source;
}

StatusOr<std::string> ReplicaData::NextPiece(SnapshotSource& source, size_t size_max) const {
  std::string piece;
  NEPTUNE_RETURN_IF_ERROR(Noted(device_.Run(ReplicaLane::kSnapshot, [&]() -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(piece, source.Next(size_max));
    return OkStatus();
  })));
  return piece;
}

Status ReplicaData::BeginRestore() {
  ++restore_count_;
  return Noted(device_.Run(ReplicaLane::kSnapshot, [this] { return state_->BeginRestore(); }));
}

Status ReplicaData::RestorePiece(std::string_view piece) {
  return device_.Run(ReplicaLane::kSnapshot, [&] { return state_->RestorePiece(piece); });
}

Status ReplicaData::RestoreEntries(const std::vector<LogEntry>& entries) {
  return device_.Run(ReplicaLane::kSnapshot, [&] { return state_->RestoreRun(WritesOf(entries)); });
}

Status ReplicaData::EndRestore(Lsn executed) {
  NEPTUNE_RETURN_IF_ERROR(
      device_.Run(ReplicaLane::kSnapshot, [this] { return state_->EndRestore().status(); }));
  executing_to_ = executed;
  executed_ = executed;
  is_distrusted_ = false;
  return OkStatus();
}

StatusOr<VerifiedPart> ReplicaData::Verify(const std::string& from, size_t size_max) const {
  const auto part = std::make_shared<VerifiedPart>();
  NEPTUNE_RETURN_IF_ERROR(
      Noted(device_.Run(ReplicaLane::kSnapshot, [state = state_, from, size_max, part]() -> Status {
        NEPTUNE_ASSIGN_OR_RETURN(*part, state->Verify(from, size_max));
        return OkStatus();
      })));
  return std::move(*part);
}

}  // namespace neptune
