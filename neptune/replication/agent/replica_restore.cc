#include "neptune/replication/agent/replica_restore.h"

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

// Pause before a failed attempt is repeated; doubles with each failure up to the maximum: of
// attempts that were refused, and of those that broke off after the data were gone.
constexpr Duration kPauseMin = std::chrono::milliseconds(100);
constexpr Duration kRefusedPauseMax = std::chrono::seconds(2);
constexpr Duration kBrokenPauseMax = std::chrono::seconds(30);
// A member that needs another snapshot this soon after one is too slow; it pauses first, from
// kRelapsePauseMin on.
constexpr Duration kRelapse = std::chrono::minutes(5);
constexpr Duration kRelapsePauseMin = std::chrono::seconds(1);
constexpr Duration kStoredPoll = std::chrono::milliseconds(2);
// Entries of a log of `write_anywhere` that are passed to the protocol at a time.
constexpr size_t kLogPartSize = 4u << 20;

}  // namespace

ReplicaRestore::ReplicaRestore(const Parts& parts, std::string name, bool is_ordered,
                               const std::atomic<bool>& stopping, Hooks hooks)
    : parts_(parts),
      is_ordered_(is_ordered),
      stopping_(stopping),
      hooks_(std::move(hooks)),
      spool_(parts.storage, std::move(name)) {}

Status ReplicaRestore::Clear() {
  return parts_.device.Run(ReplicaLane::kSnapshot, [this] { return spool_.Clear(); });
}

bool ReplicaRestore::Want(MemberIndex from) {
  from_ = from;
  return !std::exchange(is_running_, true);
}

Status ReplicaRestore::Run() {
  {
    LeafLock lock(&mutex_);
    thread_ = ThreadRef(UserThread::Current());
  }
  PauseIfRelapsed();
  const Status status = Attempt();
  NoteResult(status);
  if (status.ok()) {
    pause_ = Duration{0};
  } else {
    (void)Pause(kRefusedPauseMax);
  }
  LeafLock lock(&mutex_);
  thread_ = ThreadRef();
  is_running_ = false;
  return status;
}

Status ReplicaRestore::Attempt() {
  NEPTUNE_ASSIGN_OR_RETURN(Place place, TakePlace());
  const std::unique_ptr<Restoration> transfer = MakeTransfer();
  NEPTUNE_RETURN_IF_ERROR(transfer->Begin());
  ThreadLock lock(&parts_.data.mutex());
  if (is_ordered_ && parts_.data.executed() >= transfer->data_end()) {
    transfer->Leave();
    return OkStatus();
  }
  NEPTUNE_RETURN_IF_ERROR(Prepare(*transfer));
  hooks_.on_begin();
  Status status = Replace(*transfer);
  // The old data are gone.
  while (!status.ok() && !has_failed_ && !stopping_) {
    place.reset();
    NoteResult(status);
    if (!Pause(kBrokenPauseMax)) return Cancelled("the node is stopping");
    status = ReplaceAgain(place);
  }
  return status;
}

Status ReplicaRestore::ReplaceAgain(Place& place) {
  NEPTUNE_ASSIGN_OR_RETURN(place, TakePlace());
  const std::unique_ptr<Restoration> transfer = MakeTransfer();
  NEPTUNE_RETURN_IF_ERROR(transfer->Begin());
  NEPTUNE_RETURN_IF_ERROR(Prepare(*transfer));
  return Replace(*transfer);
}

StatusOr<ReplicaRestore::Place> ReplicaRestore::TakePlace() {
  return hooks_.take_place ? hooks_.take_place() : Place();
}

Status ReplicaRestore::Prepare(Restoration& transfer) {
  const Status status = hooks_.prepare ? hooks_.prepare(transfer.data_end()) : OkStatus();
  if (!status.ok()) transfer.Leave();
  return status;
}

std::unique_ptr<Restoration> ReplicaRestore::MakeTransfer() {
  {
    LeafLock lock(&mutex_);
    progress_.chunk_count = 0;
    progress_.size = 0;
  }
  Restoration::Hooks hooks;
  hooks.fetch = [this, from = from_](const SnapshotPull& pull) { return hooks_.fetch(from, pull); };
  hooks.leave = [this, from = from_](uint64_t token) { hooks_.leave(from, token); };
  hooks.is_wanted = [this, from = from_] { return from_ == from && !stopping_; };
  hooks.on_chunk = [this](size_t size) { NoteChunk(size); };
  hooks.memory = parts_.memory;
  return std::make_unique<Restoration>(parts_.device, parts_.data, spool_, is_ordered_,
                                       std::move(hooks));
}

Status ReplicaRestore::Replace(Restoration& transfer) {
  {
    LeafLock lock(&mutex_);
    if (!progress_.since) progress_.since = this_thread::Now();
  }
  Status status = transfer.Run();
  if (status.ok()) status = TakeOver(transfer);
  transfer.Leave();
  return transfer.has_disk_failed() ? Local(status) : status;
}

// Log and data are those of the transfer from now on.
Status ReplicaRestore::TakeOver(Restoration& transfer) {
  const SnapshotMark& mark = transfer.mark();
  if (is_ordered_) {
    hooks_.handle(DataRestored{mark});
    hooks_.fail_writes(mark.base.lsn);
  } else {
    NEPTUNE_RETURN_IF_ERROR(AdoptLog(mark));
  }
  NEPTUNE_RETURN_IF_ERROR(AwaitStored());
  NEPTUNE_RETURN_IF_ERROR(EndData(mark.base.lsn));
  if (!is_ordered_) {
    hooks_.handle(DataRestored{{.base = mark.base, .write_set = {}, .log = std::nullopt}});
  }
  return OkStatus();
}

// Passes the spooled log to the protocol, part by part.
Status ReplicaRestore::AdoptLog(const SnapshotMark& mark) {
  hooks_.handle(LogReplaced{*mark.log});
  hooks_.fail_writes(std::nullopt);  // their LSNs now belong to other entries
  while (!spool_.empty()) {
    LogExtended part;
    NEPTUNE_RETURN_IF_ERROR(Local(parts_.device.Run(ReplicaLane::kSnapshot, [&]() -> Status {
      NEPTUNE_ASSIGN_OR_RETURN(part.entries, spool_.Take(kLogPartSize));
      return OkStatus();
    })));
    hooks_.handle(std::move(part));
    NEPTUNE_RETURN_IF_ERROR(AwaitStored());
  }
  hooks_.handle(LogExtended{{}, /*is_whole=*/true});
  return OkStatus();
}

// The order matters: data that were durable before their log would be ahead of it after a crash.
Status ReplicaRestore::AwaitStored() {
  const uint64_t number = parts_.storer.last_number();
  while (!parts_.storer.IsStored(number)) {
    if (stopping_ || this_thread::SleepFor(kStoredPoll) == ParkResult::kStopping) {
      return Cancelled("the replica stops before the log of the restored data is stored");
    }
  }
  return OkStatus();
}

Status ReplicaRestore::EndData(Lsn executed) {
  NEPTUNE_RETURN_IF_ERROR(Local(parts_.data.EndRestore(executed)));
  (void)Clear();  // otherwise the next start does
  LeafLock lock(&mutex_);
  ended_at_ = this_thread::Now();
  progress_.since.reset();
  ++progress_.taken_count;
  return OkStatus();
}

Status ReplicaRestore::Local(const Status& status) {
  if (status.ok() || status.code() == StatusCode::kCancelled) return status;
  has_failed_ = true;
  hooks_.on_failure(status);
  return status;
}

void ReplicaRestore::NoteChunk(size_t size) {
  LeafLock lock(&mutex_);
  ++progress_.chunk_count;
  progress_.size += size;
  progress_.taken_size += size;
}

void ReplicaRestore::PauseIfRelapsed() {
  const bool is_relapse = ended_at_ && this_thread::Now() - *ended_at_ < kRelapse;
  if (!is_relapse) {
    relapse_pause_ = kRelapsePauseMin;
    return;
  }
  pause_ = relapse_pause_;
  relapse_pause_ = std::min(2 * relapse_pause_, kBrokenPauseMax);
  (void)Pause(kBrokenPauseMax);
  ended_at_.reset();  // attempts that are refused have pauses of their own
  pause_ = Duration{0};
}

void ReplicaRestore::NoteResult(const Status& status) {
  pause_ = std::max(pause_, kPauseMin);
  hooks_.on_result(status);
}

// False: the replica or its node is stopping.
bool ReplicaRestore::Pause(Duration pause_max) {
  const TimePoint until = this_thread::Now() + pause_;
  pause_ = std::min(2 * pause_, pause_max);
  while (!stopping_ && this_thread::Now() < until) {
    if (this_thread::Park(until) == ParkResult::kStopping) return false;
  }
  return !stopping_;
}

void ReplicaRestore::Wake() {
  LeafLock lock(&mutex_);
  if (thread_) thread_->Wake();
}

ReplicaRestore::Progress ReplicaRestore::progress() const {
  LeafLock lock(&mutex_);
  return progress_;
}

}  // namespace neptune
