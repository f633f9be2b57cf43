#include "neptune/replication/replica_agent.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/device_call.h"
#include "neptune/replication/fail_stop_replica.h"
#include "neptune/replication/safe_replica.h"

namespace neptune {
namespace {

// Executed at once, by bytes of their entries.
constexpr size_t kExecuteSizeMax = 256u << 10;
// Sent in one message.
constexpr size_t kSendSizeMax = 512u << 10;
constexpr size_t kSnapshotPieceSize = 128u << 10;
// The log is looked at for what can go after so many executed entries.
constexpr Lsn kDropInterval = 2'000;
// A device that refuses, since too much waits for it, is asked again after this.
constexpr Duration kDevicePause = std::chrono::milliseconds(5);
constexpr Duration kRestorePause = std::chrono::milliseconds(100);
constexpr Duration kRestorePoll = std::chrono::milliseconds(2);
// The primary's versions are remembered for so long, one each interval.
constexpr Duration kVersionInterval = std::chrono::milliseconds(20);
constexpr size_t kVersionCountMax = 1024;

std::string StoreName(const LogIdentity& identity, const char* part) {
  return StrCat(part, "-", identity.service, "-", identity.partition);
}

}  // namespace

struct ReplicaAgent::PendingWrite {
  OneShotEvent done;
  Epoch epoch = 0;
  Lsn lsn = 0;
  Status failure;
  WriteOutcome outcome;
};

ReplicaAgent::ReplicaAgent(ReplicaAgentOptions options, Hooks hooks)
    : options_(std::move(options)),
      hooks_(std::move(hooks)),
      device_path_(StrCat(kReplicationDevice, "/", options_.identity.service, "/",
                          options_.identity.partition)),
      loop_(*hooks_.control->loop) {}

ReplicaAgent::~ReplicaAgent() = default;

Status ReplicaAgent::OnDevice(std::function<Status()> call) {
  while (!stopping_) {
    if (hooks_.capsules == nullptr) return call();
    StatusOr<Status> ran =
        RunOnDevice(*hooks_.capsules, device_path_, call, {}, DeviceWait::kForEnd);
    if (ran.ok()) return *std::move(ran);
    if (this_thread::SleepFor(kDevicePause) == ParkResult::kStopping) break;
  }
  return Cancelled("the node stops");
}

Status ReplicaAgent::OpenLog() {
  const std::string name = StoreName(options_.identity, "log");
  return OnDevice([this, name]() -> Status {
    log_.reset();
    log_store_.reset();
    NEPTUNE_ASSIGN_OR_RETURN(log_store_, hooks_.world->storage().Open(name));
    NEPTUNE_ASSIGN_OR_RETURN(auto log, RedoLog::Open(*log_store_, options_.identity));
    log_ = std::move(log);
    return OkStatus();
  });
}

Status ReplicaAgent::OpenState() {
  if (hooks_.open_state == nullptr) return OkStatus();
  return OnDevice([this]() -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(auto state, hooks_.open_state());
    state_ = std::move(state);
    return OkStatus();
  });
}

Status ReplicaAgent::Start() {
  NEPTUNE_RETURN_IF_ERROR(OpenLog());
  NEPTUNE_RETURN_IF_ERROR(OpenState());
  if (state_ != nullptr && state_->completed() < log_->opened().base.lsn) {
    // A restore was not finished: what the log still has follows data that are not there. The member has forgotten.
    LOG(WARNING) << options_.identity.service << "/" << options_.identity.partition
                 << " begins anew: its data are not whole";
    const std::string name = StoreName(options_.identity, "log");
    NEPTUNE_RETURN_IF_ERROR(OnDevice([this, name]() -> Status {
      log_.reset();
      log_store_.reset();
      return hooks_.world->storage().Destroy(name);
    }));
    NEPTUNE_RETURN_IF_ERROR(OpenLog());
  }
  executed_ = state_ == nullptr ? 0 : std::max(state_->completed(), log_->opened().base.lsn);
  executing_to_ = executed_.load();
  protocol_ = MakeProtocol();
  SpawnOn(*hooks_.control, "replica", [this] { Pump(); });
  if (state_ != nullptr) SpawnOn(*hooks_.worker, "execute", [this] { Execute(); });
  return OkStatus();
}

std::unique_ptr<ReplicaProtocol> ReplicaAgent::MakeProtocol() {
  // Zero is nobody's incarnation.
  const uint64_t incarnation = loop_.random().Next() | 1;
  if (options_.mode == ReplicationMode::kSafe) {
    return std::make_unique<SafeReplica>(options_.group, SafeReplicaOptions(), log_->opened(),
                                         incarnation, loop_.random().Next(), loop_.Now());
  }
  LogOutline found = log_->opened();
  found.committed = std::max(found.committed, executed_.load());  // CHECK
  return std::make_unique<FailStopReplica>(options_.group, FailStopReplicaOptions(), found,
                                           incarnation, loop_.Now());
}

void ReplicaAgent::SpawnOn(NodeLoop& loop, const char* what, Task body) {
  ++threads_alive_;
  loop.loop->Post([this, &loop, what, body = std::move(body)]() mutable {
    const auto started = loop.scheduler->Spawn(
        [this, body = std::move(body)]() mutable {
          body();
          --threads_alive_;
        },
        what);
    if (started.ok()) return;
    LOG(ERROR) << started.status();
    --threads_alive_;
  });
}

void ReplicaAgent::Stop() {
  stopping_ = true;
  LeafLock lock(&mutex_);
  if (pump_) pump_->Wake();
  if (executor_) executor_->Wake();
}

// The order of writes, on the control loop.

void ReplicaAgent::Receive(MemberIndex from, ReplicaMessage message) {
  if (stopping_ || protocol_ == nullptr) return;
  protocol_->Step(from, std::move(message), loop_.Now());
  if (pump_) pump_->Wake();
}

void ReplicaAgent::Unreachable(MemberIndex member) {
  if (stopping_ || protocol_ == nullptr) return;
  protocol_->Unreachable(member, loop_.Now());
}

void ReplicaAgent::Pump() {
  {
    LeafLock lock(&mutex_);
    pump_ = ThreadRef(UserThread::Current());
  }
  while (!stopping_) {
    if (loop_.Now() >= protocol_->NextEvent()) protocol_->Tick(loop_.Now());
    ReplicaActions actions = protocol_->TakeActions();
    Publish();
    if (!actions.empty()) {
      Do(std::move(actions));
    } else if (drop_before_ != 0) {
      DropLog();
    } else if (this_thread::Park(protocol_->NextEvent()) == ParkResult::kStopping) {
      break;
    }
  }
  stopping_ = true;
  for (auto& [lsn, pending] : std::exchange(writers_, {})) {
    pending->failure = Unavailable("the replica stops");
    pending->done.Set();
  }
}

void ReplicaAgent::Do(ReplicaActions actions) {
  const auto change = std::make_shared<LogChange>(std::move(actions.change));
  Send(actions.at_once, *change);
  if (actions.restore_from) BeginRestore(*actions.restore_from);
  if (!change->empty()) {
    change->committed = protocol_->committed();
    const Status stored = OnDevice([log = log_, change] { return log->Store(*change); });
    if (!stored.ok()) return Fail(Annotate(stored, "storing the log"));
    protocol_->Stored(actions.change_number, loop_.Now());
  }
  Send(actions.after_stored, *change);
}

void ReplicaAgent::DropLog() {
  const Lsn first = std::exchange(drop_before_, 0);
  const Status dropped = OnDevice([log = log_, first] { return log->DropBefore(first); });
  if (!dropped.ok()) return Fail(Annotate(dropped, "dropping what the log need not keep"));
  protocol_->Dropped(first);
}

void ReplicaAgent::Send(std::vector<OutgoingReplicaMessage>& messages, const LogChange& change) {
  for (OutgoingReplicaMessage& outgoing : messages) {
    if (FillEntries(&outgoing, change)) hooks_.send(outgoing.to, std::move(outgoing.message));
  }
}

// Entries that are about to be stored are in `change`, all others in the log.
bool ReplicaAgent::FillEntries(OutgoingReplicaMessage* outgoing, const LogChange& change) {
  ReplicaMessage& message = outgoing->message;
  const Lsn first = message.prev_lsn + 1;
  if (outgoing->entries_to < first) return true;
  size_t size = 0;
  if (!change.entries.empty() && first >= change.entries.front().lsn) {
    for (size_t i = first - change.entries.front().lsn; i < change.entries.size(); ++i) {
      const LogEntry& entry = change.entries[i];
      if (entry.lsn > outgoing->entries_to || size > kSendSizeMax) break;
      size += entry.payload.size();
      message.entries.push_back(entry);
    }
    return true;
  }
  const auto read = std::make_shared<std::vector<LogEntry>>();
  const Status status = OnDevice([log = log_, first, to = outgoing->entries_to, read]() -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(*read, log->Read(first, to, kSendSizeMax));
    return OkStatus();
  });
  // What was dropped meanwhile is found out with the next message.
  if (!status.ok()) return status.code() == StatusCode::kNotFound;
  message.entries = std::move(*read);
  return true;
}

// The protocol's lease, once the data have what earlier primaries acknowledged: all that is known to be committed when a
// lease is first had in an epoch.
TimePoint ReplicaAgent::LeasedUntil(Lsn executed) {
  const TimePoint leased_until = protocol_->leased_until();
  if (leased_until == TimePoint::min()) return leased_until;
  if (lease_epoch_ != protocol_->epoch()) {
    lease_epoch_ = protocol_->epoch();
    lease_needs_ = protocol_->committed();
  }
  return executed >= lease_needs_ ? leased_until : TimePoint::min();
}

void ReplicaAgent::Publish() {
  executable_ = protocol_->committed();
  const Lsn executed = executed_;
  const TimePoint now = loop_.Now();
  bool has_changed = false;
  {
    LeafLock lock(&mutex_);
    has_changed = published_.role != protocol_->role() ||
                  published_.primary != protocol_->primary() ||
                  published_.epoch != protocol_->epoch();
    published_.role = protocol_->role();
    published_.epoch = protocol_->epoch();
    published_.primary = protocol_->primary();
    published_.write_set = protocol_->write_set();
    published_.committed = protocol_->committed();
    published_.last_lsn = protocol_->last_lsn();
    published_.last_epoch = protocol_->EpochAt(published_.last_lsn).value_or(0);
    published_.leased_until = LeasedUntil(executed);
    published_.executed = executed;
    const auto freshness = protocol_->freshness();
    if (freshness && executed >= freshness->committed) {
      published_.current_as_of = std::max(published_.current_as_of, freshness->as_of);
    }
    const bool is_primary = published_.role == ReplicaRole::kPrimary;
    if (!is_primary) versions_.clear();
    if (is_primary && (versions_.empty() || now - versions_.back().first >= kVersionInterval)) {
      versions_.emplace_back(now, executed);
      if (versions_.size() > kVersionCountMax) versions_.pop_front();
    }
    if (executor_ && executable_ > executed) executor_->Wake();
  }
  if (has_changed && hooks_.on_change) hooks_.on_change();
}

void ReplicaAgent::Fail(const Status& status) {
  if (status.code() == StatusCode::kCancelled) return;
  LOG(ERROR) << "replica of " << options_.identity.service << "/" << options_.identity.partition
             << " stops: " << status;
  {
    LeafLock lock(&mutex_);
    published_.failure = status;
    published_.leased_until = TimePoint::min();
  }
  Stop();
}

Status ReplicaAgent::StartByHand() {
  struct Answer {
    OneShotEvent done;
    Status status;
  };
  const auto answer = std::make_shared<Answer>();
  loop_.Post([this, answer] {
    answer->status = stopping_ || protocol_ == nullptr ? Unavailable("the replica has stopped")
                                                       : protocol_->StartByHand(loop_.Now());
    answer->done.Set();
    if (pump_) pump_->Wake();
  });
  if (answer->done.Wait() != ParkResult::kWoken) return Cancelled("the node stops");
  return answer->status;
}

// Writes.

StatusOr<WriteOutcome> ReplicaAgent::Write(LogEntry write, TimePoint deadline, Lsn* version) {
  const auto pending = std::make_shared<PendingWrite>();
  loop_.Post([this, write = std::move(write), pending]() mutable {
    Propose(std::move(write), std::move(pending));
  });
  const ParkResult result = pending->done.Wait(deadline);
  if (result == ParkResult::kDeadline) return DeadlineExceeded("the write is not known to be done");
  if (result == ParkResult::kStopping) return Cancelled("the node stops");
  if (!pending->failure.ok()) return pending->failure;
  *version = pending->lsn;
  return std::move(pending->outcome);
}

void ReplicaAgent::Propose(LogEntry write, std::shared_ptr<PendingWrite> pending) {
  if (stopping_ || protocol_ == nullptr) {
    pending->failure = Unavailable("the replica has stopped");
    return pending->done.Set();
  }
  const StatusOr<Lsn> lsn = protocol_->Propose(std::move(write), loop_.Now());
  if (!lsn.ok()) {
    pending->failure = lsn.status();
    return pending->done.Set();
  }
  pending->lsn = *lsn;
  pending->epoch = protocol_->epoch();
  writers_.emplace(*lsn, std::move(pending));
  if (pump_) pump_->Wake();
}

void ReplicaAgent::Deliver(std::vector<std::pair<LogEntry, WriteOutcome>> executed) {
  for (auto& [entry, outcome] : executed) {
    const auto [begin, end] = writers_.equal_range(entry.lsn);
    for (auto it = begin; it != end; ++it) {
      PendingWrite& pending = *it->second;
      if (pending.epoch == entry.epoch) {
        pending.outcome = outcome;
      } else {
        pending.failure = Unavailable("another primary took over before the write was committed");
      }
      pending.done.Set();
    }
    writers_.erase(begin, end);
  }
  if (pump_) pump_->Wake();  // what is published follows
}

// Execution, on the worker loop.

void ReplicaAgent::Execute() {
  {
    LeafLock lock(&mutex_);
    executor_ = ThreadRef(UserThread::Current());
  }
  while (!stopping_) {
    const Lsn to = executable_;
    if (executed_ >= to) {
      if (this_thread::Park() == ParkResult::kStopping) break;
      continue;
    }
    const Status status = ExecuteSome(to);
    if (!status.ok()) {
      loop_.Post([this, status] { Fail(Annotate(status, "executing writes")); });
      break;
    }
    FindDroppable();
  }
}

Status ReplicaAgent::ExecuteSome(Lsn to) {
  ThreadLock lock(&state_mutex_);
  if (executed_ >= to) return OkStatus();  // restored meanwhile
  const auto entries = std::make_shared<std::vector<LogEntry>>();
  NEPTUNE_RETURN_IF_ERROR(
      OnDevice([log = log_, from = executed_.load() + 1, to, entries]() -> Status {
        NEPTUNE_ASSIGN_OR_RETURN(*entries, log->Read(from, to, kExecuteSizeMax));
        return OkStatus();
      }));
  if (hooks_.before_write) {
    for (const LogEntry& entry : *entries) {
      if (entry.kind == EntryKind::kWrite) hooks_.before_write(entry);
    }
  }
  if (!entries->empty()) executing_to_ = entries->back().lsn;
  const auto outcomes = std::make_shared<std::vector<std::pair<LogEntry, WriteOutcome>>>();
  NEPTUNE_RETURN_IF_ERROR(OnDevice([state = state_, entries, outcomes]() -> Status {
    for (LogEntry& entry : *entries) {
      if (entry.kind != EntryKind::kWrite) {
        outcomes->emplace_back(std::move(entry), WriteOutcome());
        continue;
      }
      NEPTUNE_ASSIGN_OR_RETURN(WriteOutcome outcome, state->Apply(entry));
      outcomes->emplace_back(std::move(entry), std::move(outcome));
    }
    return OkStatus();
  }));
  if (outcomes->empty()) return OkStatus();
  executed_ = outcomes->back().first.lsn;
  loop_.Post([this, outcomes] { Deliver(std::move(*outcomes)); });
  return OkStatus();
}

// The log drops what the data have durably and nobody needs.
void ReplicaAgent::FindDroppable() {
  const Lsn executed = executed_;
  if (executed < dropped_at_ + kDropInterval) return;
  dropped_at_ = executed;
  const auto flushed = std::make_shared<Lsn>(0);
  ThreadLock lock(&state_mutex_);
  const Status status = OnDevice([state = state_, flushed]() -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(*flushed, state->Flush());
    return OkStatus();
  });
  if (!status.ok()) return;
  loop_.Post([this, flushed = *flushed] {
    if (stopping_) return;
    const Lsn needed = protocol_->needed_from();
    const Lsn kept = flushed > options_.kept_count ? flushed - options_.kept_count : 0;
    Lsn last = needed == 0 ? kept : std::min(kept, needed - 1);
    if (log_->size() > options_.log_size_max) last = flushed;
    if (last < log_->first_lsn()) return;
    drop_before_ = last + 1;
    if (pump_) pump_->Wake();
  });
}

// Data of another member.

StatusOr<ReplicaSnapshot> ReplicaAgent::Snapshot() {
  if (state_ == nullptr) return FailedPrecondition("a witness has no data");
  const auto snapshot = std::make_shared<ReplicaSnapshot>();
  NEPTUNE_RETURN_IF_ERROR(OnDevice([state = state_, snapshot]() -> Status {
    size_t size = 0;
    const StatusOr<Lsn> lsn = state->WriteSnapshot(kSnapshotPieceSize, [&](std::string_view piece) {
      size += piece.size();
      snapshot->pieces.emplace_back(piece);
      return size <= kSnapshotSizeMax;
    });
    if (size > kSnapshotSizeMax) {
      return ResourceExhausted("data of over ", kSnapshotSizeMax, " bytes are not sent");
    }
    NEPTUNE_RETURN_IF_ERROR(lsn.status());
    snapshot->base.lsn = *lsn;
    return OkStatus();
  }));
  const auto is_known = std::make_shared<std::optional<bool>>();
  const auto done = std::make_shared<OneShotEvent>();
  loop_.Post([this, snapshot, is_known, done] {
    const auto epoch = protocol_->EpochAt(snapshot->base.lsn);
    *is_known = epoch.has_value();
    if (epoch) {
      snapshot->base.epoch = *epoch;
      snapshot->write_set = protocol_->WriteSetAt(snapshot->base.lsn);
    }
    done->Set();
  });
  if (done->Wait() != ParkResult::kWoken) return Cancelled("the node stops");
  if (!**is_known) return Unavailable("the log has moved on");
  return std::move(*snapshot);
}

void ReplicaAgent::BeginRestore(MemberIndex from) {
  if (restoring_ || state_ == nullptr) return;
  restoring_ = true;
  SpawnOn(*hooks_.control, "restore", [this, from] {
    const Status status = Restore(from);
    LOG_IF(WARNING, !status.ok()) << "restoring " << options_.identity.service << "/"
                                  << options_.identity.partition << ": " << status;
    if (!status.ok()) this_thread::SleepFor(kRestorePause);
    restoring_ = false;
    LeafLock lock(&mutex_);
    published_.is_restoring = false;
  });
}

Status ReplicaAgent::Restore(MemberIndex from) {
  NEPTUNE_ASSIGN_OR_RETURN(ReplicaSnapshot fetched, hooks_.fetch(from));
  const auto snapshot = std::make_shared<ReplicaSnapshot>(std::move(fetched));
  ThreadLock lock(&state_mutex_);
  const EpochStart base = snapshot->base;
  if (executed_ >= base.lsn) return OkStatus();
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
  if (!restored.ok()) {
    Fail(restored);  // what was there is gone
    return restored;
  }
  protocol_->Restored(base, snapshot->write_set, loop_.Now());
  // The data count once the log that goes with them is stored.
  while (!stopping_ && log_->last_lsn() < base.lsn) {
    if (pump_) pump_->Wake();
    if (this_thread::SleepFor(kRestorePoll) == ParkResult::kStopping) break;
  }
  const Status ended = OnDevice([state = state_, base] { return state->EndRestore(base.lsn); });
  if (!ended.ok()) {
    Fail(ended);
    return ended;
  }
  executing_to_ = base.lsn;
  executed_ = base.lsn;
  return OkStatus();
}

// Reads.

ReplicaAgent::State ReplicaAgent::Look() const {
  LeafLock lock(&mutex_);
  State state = published_;
  state.executed = executed_;
  return state;
}

ReplicaReport ReplicaAgent::Report() const {
  LeafLock lock(&mutex_);
  ReplicaReport report;
  report.version = executed_;
  report.epoch = published_.epoch;
  if (published_.primary) report.primary = NodeOf(*published_.primary);
  return report;
}

StatusOr<ReplicaAgent::Read> ReplicaAgent::BeginRead(const ReplicaDemand& demand,
                                                     TimePoint now) const {
  if (state_ == nullptr) return FailedPrecondition("a witness has no data");
  Read read;
  read.restore_count = restore_count_;
  const Lsn version = executed_;
  const State state = Look();
  if (!state.failure.ok()) return Unavailable("the replica has failed");
  if (state.is_restoring) return Unavailable("the replica takes over another one's data");
  read.current_as_of = now < state.leased_until ? now : state.current_as_of;
  if (options_.level != ConsistencyLevel::kStalenessBounded && !demand.staleness_max) return read;
  const Duration bound = demand.staleness_max.value_or(options_.staleness_max);
  const bool is_fresh = read.current_as_of != TimePoint::min() && now - read.current_as_of <= bound;
  if (is_fresh && version >= demand.version_min) return read;
  if (state.primary == options_.group.self) return Unavailable("the primary is not ready");
  return FailedPrecondition("the replica is behind");
}

StatusOr<ReplicaReport> ReplicaAgent::EndRead(const Read& read, TimePoint now) const {
  if (read.restore_count != restore_count_) return Unavailable("the data were replaced meanwhile");
  ReplicaReport report = Report();
  report.version = std::max<Lsn>(executed_, executing_to_);
  report.was_served = true;
  if (read.current_as_of != TimePoint::min()) report.staleness = now - read.current_as_of;
  return report;
}

Lsn ReplicaAgent::VersionAgo(Duration age, TimePoint now) const {
  LeafLock lock(&mutex_);
  Lsn version = 0;
  for (const auto& [at, had] : versions_) {
    if (at > now - age) break;
    version = had;
  }
  return version;
}

std::optional<MemberIndex> ReplicaAgent::MemberOf(const NodeId& node) const {
  for (size_t i = 0; i < options_.group.members.size(); ++i) {
    if (options_.group.members[i].node == node) return static_cast<MemberIndex>(i);
  }
  return std::nullopt;
}

}  // namespace neptune
