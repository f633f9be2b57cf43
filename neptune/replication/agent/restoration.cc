#include "neptune/replication/agent/restoration.h"

#include <algorithm>
#include <utility>

#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

// How long a pull that fails is repeated; less than the sender keeps the transfer.
constexpr Duration kResumeMax = std::chrono::seconds(30);
constexpr Duration kResumePause = std::chrono::milliseconds(50);
constexpr Duration kResumePauseMax = std::chrono::seconds(1);
// Entries executed between two pulls. More than a chunk has, so that fewer and fewer are left.
constexpr size_t kReplaySize = 2 * kSnapshotChunkSize;
// Copies of a chunk while it is taken: as it came, and its parts.
constexpr size_t kChunkCopies = 2;

// True if the same pull may succeed later. A chunk that was damaged on its way is sent again.
bool IsPassing(const Status& status) {
  switch (status.code()) {
    case StatusCode::kUnavailable:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kResourceExhausted:
    case StatusCode::kDataLoss:
      return true;
    default:
      return false;
  }
}

size_t SizeOf(const SnapshotChunk& chunk) {
  size_t size = chunk.piece.size();
  for (const LogEntry& entry : chunk.entries) size += entry.payload.size();
  return size;
}

}  // namespace

Status Restoration::Begin() {
  NEPTUNE_ASSIGN_OR_RETURN(first_, TryFetch({}));
  NEPTUNE_RETURN_IF_ERROR(intake_.Take(first_));
  if (hooks_.on_chunk) hooks_.on_chunk(SizeOf(first_));
  return OkStatus();
}

Status Restoration::Run() {
  NEPTUNE_RETURN_IF_ERROR(Empty());
  NEPTUNE_RETURN_IF_ERROR(Store(std::exchange(first_, {})));
  while (!intake_.is_whole()) {
    NEPTUNE_ASSIGN_OR_RETURN(SnapshotChunk chunk, Fetch());
    NEPTUNE_RETURN_IF_ERROR(Take(std::move(chunk)));
  }
  while (is_ordered_ && !spool_.empty()) NEPTUNE_RETURN_IF_ERROR(ExecuteSome());
  return OkStatus();
}

// Nothing of the other member is here yet: whatever fails is this node's.
Status Restoration::Empty() {
  Status status = data_.BeginRestore();
  if (status.ok()) {
    status = device_.Run(ReplicaLane::kSnapshot, [this] { return spool_.Clear(); });
  }
  has_disk_failed_ = !status.ok() && status.code() != StatusCode::kCancelled;
  return status;
}

Status Restoration::Take(SnapshotChunk chunk) {
  NEPTUNE_RETURN_IF_ERROR(intake_.Take(chunk));
  if (hooks_.on_chunk) hooks_.on_chunk(SizeOf(chunk));
  return Store(chunk);
}

StatusOr<SnapshotChunk> Restoration::Fetch() {
  SnapshotPull pull;
  pull.token = intake_.token();
  pull.index = intake_.next_index();
  pull.may_end = intake_.has_all_data() && (!is_ordered_ || spool_.empty());
  TimePoint give_up_at = this_thread::Now() + kResumeMax;
  for (Duration pause = kResumePause;; pause = std::min(2 * pause, kResumePauseMax)) {
    StatusOr<SnapshotChunk> chunk = TryFetch(pull);
    // The end that has no room now will have some.
    const bool must_wait = chunk.status().code() == StatusCode::kResourceExhausted;
    if (must_wait) give_up_at = this_thread::Now() + kResumeMax;
    if (chunk.ok() || !IsPassing(chunk.status()) || this_thread::Now() >= give_up_at) return chunk;
    if (hooks_.is_wanted && !hooks_.is_wanted()) return chunk;
    if (this_thread::SleepFor(pause) == ParkResult::kStopping) {
      return Cancelled("the node is stopping");
    }
  }
}

StatusOr<SnapshotChunk> Restoration::TryFetch(const SnapshotPull& pull) {
  NEPTUNE_RETURN_IF_ERROR(memory_.Reserve(kChunkCopies * kSnapshotChunkSize + kReplaySize));
  StatusOr<SnapshotChunk> chunk = hooks_.fetch(pull);
  if (!chunk.ok()) {
    memory_.Keep(0);
    return chunk;
  }
  const size_t size = kChunkCopies * SizeOf(*chunk);
  const Status has_room = memory_.ReserveLarge(size + kReplaySize);
  return has_room.ok() ? std::move(chunk) : has_room;
}

Status Restoration::Store(const SnapshotChunk& chunk) {
  if (!chunk.piece.empty()) NEPTUNE_RETURN_IF_ERROR(Local(data_.RestorePiece(chunk.piece)));
  if (!chunk.entries.empty()) {
    NEPTUNE_RETURN_IF_ERROR(OnDevice([&] { return spool_.Append(chunk.entries); }));
  }
  if (is_ordered_ && intake_.has_all_data()) NEPTUNE_RETURN_IF_ERROR(ExecuteSome());
  memory_.Keep(0);
  return OkStatus();
}

Status Restoration::ExecuteSome() {
  if (spool_.empty()) return OkStatus();
  std::vector<LogEntry> entries;
  NEPTUNE_RETURN_IF_ERROR(OnDevice([&]() -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(entries, spool_.Take(kReplaySize));
    return OkStatus();
  }));
  return Local(data_.RestoreEntries(entries));
}

void Restoration::Leave() {
  if (intake_.token() != 0) hooks_.leave(intake_.token());
}

Status Restoration::OnDevice(const std::function<Status()>& call) {
  return Local(device_.Run(ReplicaLane::kSnapshot, call));
}

// Notes a failure of this node's disk. Data that do not fit together come from the other member.
Status Restoration::Local(const Status& status) {
  const bool is_foreign =
      status.code() == StatusCode::kDataLoss || status.code() == StatusCode::kCancelled;
  if (!status.ok() && !is_foreign) has_disk_failed_ = true;
  return status;
}

}  // namespace neptune
