#include "neptune/replication/agent/replica_agent.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/replication/agent/log_committer.h"
#include "neptune/replication/agent/pending_writes.h"
#include "neptune/replication/agent/replica_board.h"
#include "neptune/replication/agent/replica_data.h"
#include "neptune/replication/agent/replica_device.h"
#include "neptune/replication/agent/replica_log.h"
#include "neptune/replication/protocol/commutative_protocol.h"
#include "neptune/replication/protocol/fail_stop/fail_stop_replica.h"
#include "neptune/replication/protocol/safe/safe_replica.h"

namespace neptune {
namespace {

// Droppable log entries are looked for after this many executed ones, or once the log has grown by
// this part of its maximum size.
constexpr Lsn kDropInterval = 2'000;
constexpr size_t kDropShare = 8;
// Delay before a failed restore is retried; doubles with each failure up to the maximum.
constexpr Duration kRestorePause = std::chrono::milliseconds(100);
constexpr Duration kRestorePauseMax = std::chrono::seconds(2);
constexpr Duration kRestorePoll = std::chrono::milliseconds(2);

// `disk`: null: its room is not known.
bool MayFollow(const DiskRoom* disk) { return disk == nullptr || disk->may_follow(); }

}  // namespace

ReplicaAgent::ReplicaAgent(ReplicaAgentOptions options, Hooks hooks)
    : options_(std::move(options)),
      hooks_(std::move(hooks)),
      loop_(*hooks_.control->loop),
      device_(std::make_unique<ReplicaDevice>(hooks_.capsules, options_.identity.service,
                                              options_.identity.partition, stopping_)),
      log_(std::make_unique<ReplicaLog>(*device_, *hooks_.logs, options_.identity)),
      data_(std::make_unique<ReplicaData>(*device_, hooks_.open_state)),
      storer_(*log_, stopping_, StoringHooks()),
      board_(std::make_unique<ReplicaBoard>()),
      writes_(std::make_unique<PendingWrites>()) {}

ReplicaAgent::~ReplicaAgent() = default;

// Data never get ahead of an ordered log, which is stored first.
Status ReplicaAgent::FindDamage() const {
  NEPTUNE_RETURN_IF_ERROR(log_->damage());
  if (!data_->exists()) return OkStatus();
  const Lsn completed = data_->state()->completed();
  const LogOutline& found = log_->found();
  if (completed > found.last_lsn && !is_write_anywhere()) {
    return DataLoss("the data contain write ", completed, ", but the log ends with ",
                    found.last_lsn);
  }
  if (completed >= found.base.lsn || options_.group.size() > 1) return OkStatus();
  return DataLoss("the data end with write ", completed, ", but the log begins after ",
                  found.base.lsn);
}

// A log whose base is after the data, or (level 1) data that end after the log, result from an
// unfinished restore. The member then counts as one with a new disk.
Status ReplicaAgent::BeginAnewUnlessSound() {
  const Status damage = FindDamage();
  const Lsn completed = data_->exists() ? data_->state()->completed() : log_->found().base.lsn;
  const bool is_ahead =
      is_write_anywhere() && data_->exists() && completed > log_->found().last_lsn;
  if (damage.ok() && completed >= log_->found().base.lsn && !is_ahead) return OkStatus();
  LOG(ERROR) << options_.identity.service << "/" << options_.identity.partition
             << " forgets its log, and asks the other members: "
             << (damage.ok() ? Status(DataLoss("log and data do not fit together")) : damage);
  board_->NoteDamage(damage);
  if (!damage.ok() && options_.group.size() == 1) return damage;
  NEPTUNE_RETURN_IF_ERROR(log_->Forget());
  data_->Distrust();
  return OkStatus();
}

Status ReplicaAgent::Start() {
  NEPTUNE_RETURN_IF_ERROR(log_->Open());
  NEPTUNE_RETURN_IF_ERROR(data_->Open());
  const Status sound = BeginAnewUnlessSound();
  if (sound.code() == StatusCode::kDataLoss) {
    Fail(sound);
    return OkStatus();  // the node's other partitions go on
  }
  NEPTUNE_RETURN_IF_ERROR(sound);
  data_->BeginAfter(log_->found().base.lsn);
  NEPTUNE_RETURN_IF_ERROR(MakeProtocol());
  SpawnOn(*hooks_.control, "replica", [this] { Pump(); });
  SpawnOn(*hooks_.control, "store", [this] { storer_.Run(); });
  if (data_->exists()) SpawnOn(*hooks_.worker, "execute", [this] { Execute(); });
  return OkStatus();
}

Status ReplicaAgent::MakeProtocol() {
  // 0 is not a valid incarnation.
  const uint64_t incarnation = loop_.random().Next() | 1;
  if (is_write_anywhere()) {
    NEPTUNE_ASSIGN_OR_RETURN(OriginIndex index, log_->Index());
    protocol_ = std::make_unique<CommutativeProtocol>(options_.group, log_->found(),
                                                      std::move(index), incarnation, loop_.Now());
    return OkStatus();
  }
  if (options_.mode == ReplicationMode::kSafe) {
    protocol_ = std::make_unique<SafeReplica>(options_.group, SafeReplicaOptions(), log_->found(),
                                              incarnation, loop_.random().Next(), loop_.Now());
    return OkStatus();
  }
  LogOutline found = log_->found();
  found.committed = std::max(found.committed, data_->executed());  // CHECK
  protocol_ = std::make_unique<FailStopReplica>(options_.group, FailStopReplicaOptions(), found,
                                                incarnation, loop_.Now());
  return OkStatus();
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
    --threads_alive_;
    loop_.Post([this, status = started.status()] { Fail(status); });
  });
}

void ReplicaAgent::WakePump() {
  if (pump_) pump_->Wake();
}

void ReplicaAgent::WakeExecutor() {
  LeafLock lock(&mutex_);
  if (executor_) executor_->Wake();
}

void ReplicaAgent::Stop() {
  stopping_ = true;
  storer_.Wake();
  LeafLock lock(&mutex_);
  if (pump_) pump_->Wake();
  if (executor_) executor_->Wake();
}

// The protocol, on the control loop.

void ReplicaAgent::Receive(MemberIndex from, ProtocolMessage message) {
  if (stopping_ || protocol_ == nullptr) return;
  // A message that lost its entries is still a correct one of its sender: the primary's heartbeat,
  // or what a peer has.
  if (!MayFollow(hooks_.disk)) std::visit([](auto& one) { one.entries.clear(); }, message);
  protocol_->Handle(MessageReceived{from, std::move(message)}, loop_.Now());
  WakePump();
}

void ReplicaAgent::Unreachable(MemberIndex member) {
  if (stopping_ || protocol_ == nullptr) return;
  protocol_->Handle(MemberUnreachable{member}, loop_.Now());
}

void ReplicaAgent::Pump() {
  {
    LeafLock lock(&mutex_);
    pump_ = ThreadRef(UserThread::Current());
  }
  while (!stopping_) {
    if (loop_.Now() >= protocol_->NextEvent()) protocol_->Handle(TimePassed(), loop_.Now());
    TakeActions();
    Publish();
    if (!outgoing_.empty()) {
      for (size_t count = outgoing_.size(); count > 0 && !stopping_; --count) SendNext();
    } else if (this_thread::Park(protocol_->NextEvent()) == ParkResult::kStopping) {
      break;
    }
  }
  stopping_ = true;
  storer_.Wake();
  writes_->FailAll("the replica is stopping");
}

void ReplicaAgent::TakeActions() {
  ProtocolActions actions = protocol_->DrainActions();
  if (actions.empty()) return;
  for (OutgoingMessage& outgoing : actions.at_once) outgoing_.push_back(std::move(outgoing));
  if (!actions.change.empty()) actions.change.committed = protocol_->status().committed;
  storer_.Push(std::move(actions));
}

// Sends the next message; one with many entries in several copies.
void ReplicaAgent::SendNext() {
  OutgoingMessage outgoing = std::move(outgoing_.front());
  outgoing_.pop_front();
  do {
    ProtocolMessage message = outgoing.message;
    if (!outgoing.entries.empty()) {
      StatusOr<std::vector<LogEntry>> read =
          log_->ReadForMessage(outgoing.entries, storer_.unstored());
      // If entries were dropped meanwhile, send none; the next message resolves it.
      if (!read.ok() && read.status().code() != StatusCode::kNotFound) break;
      if (!read.ok()) outgoing.entries.clear();
      if (read.ok()) std::visit([&](auto& one) { one.entries = *std::move(read); }, message);
    }
    hooks_.send(outgoing.to, message);
  } while (outgoing.is_repeated && !outgoing.entries.empty());
}

LogStorer::Hooks ReplicaAgent::StoringHooks() {
  LogStorer::Hooks hooks;
  hooks.on_stored = [this](uint64_t number, Duration took) {
    protocol_->Handle(ChangeStored{number, took}, loop_.Now());
    WakePump();
  };
  hooks.send = [this](const OutgoingMessage& outgoing) {
    hooks_.send(outgoing.to, outgoing.message);
  };
  hooks.restore = [this](MemberIndex from) { BeginRestore(from); };
  hooks.on_dropped = [this](Lsn first) { protocol_->Handle(EntriesDropped{first}, loop_.Now()); };
  hooks.on_failure = [this](const Status& status) { Fail(status); };
  return hooks;
}

void ReplicaAgent::Publish() {
  const ReplicaStatus standing = protocol_->status();
  data_->Allow(standing.committed);
  const Lsn executed = data_->executed();
  const bool has_changed =
      board_->Publish(standing, {.executed = executed, .log_size = log_->size()}, loop_.Now());
  if (standing.committed > executed) WakeExecutor();
  if (has_changed && hooks_.on_change) hooks_.on_change();
}

void ReplicaAgent::Fail(const Status& status) {
  if (status.code() == StatusCode::kCancelled) return;
  LOG(ERROR) << "replica of " << options_.identity.service << "/" << options_.identity.partition
             << " stopped: " << status;
  board_->Fail(status);
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
    WakePump();
  });
  if (answer->done.Wait() != ParkResult::kWoken) return Cancelled("the node is stopping");
  return answer->status;
}

// Writes.

StatusOr<WriteOutcome> ReplicaAgent::Write(LogEntry write, TimePoint deadline, Lsn* version) {
  const auto pending = std::make_shared<PendingWrite>();
  loop_.Post([this, write = std::move(write), pending]() mutable {
    Propose(std::move(write), std::move(pending));
  });
  const ParkResult result = pending->done.Wait(deadline);
  if (result == ParkResult::kDeadline)
    return DeadlineExceeded("the outcome of the write is unknown");
  if (result == ParkResult::kStopping) return Cancelled("the node is stopping");
  if (!pending->failure.ok()) return pending->failure;
  *version = pending->lsn;
  return std::move(pending->outcome);
}

// The log of level 1 keeps everything that other members lack.
Status ReplicaAgent::CheckRoom() {
  if (hooks_.disk != nullptr) NEPTUNE_RETURN_IF_ERROR(hooks_.disk->CheckWrite());
  if (!is_write_anywhere() || log_->size() <= options_.log_size_max) return OkStatus();
  drop_wanted_ = true;
  WakeExecutor();
  return ResourceExhausted("the log has ", log_->size(),
                           " bytes that other members may still need");
}

void ReplicaAgent::Propose(LogEntry write, std::shared_ptr<PendingWrite> pending) {
  if (stopping_ || protocol_ == nullptr) {
    pending->failure = Unavailable("the replica has stopped");
    return pending->done.Set();
  }
  pending->id = write.request_id;
  const ReplicaStatus standing = protocol_->status();
  const bool is_ordering = is_write_anywhere() || standing.role == ReplicaRole::kPrimary;
  if (is_ordering && writes_->Join(pending, standing.epoch)) return;
  if (is_ordering) pending->failure = CheckRoom();
  if (!pending->failure.ok()) return pending->done.Set();
  const StatusOr<Lsn> lsn = protocol_->Propose(std::move(write), loop_.Now());
  if (!lsn.ok()) {
    pending->failure = lsn.status();
    return pending->done.Set();
  }
  pending->lsn = *lsn;
  pending->epoch = protocol_->status().epoch;
  writes_->Add(std::move(pending));
  WakePump();
}

// Execution, on its loop.

void ReplicaAgent::Execute() {
  {
    LeafLock lock(&mutex_);
    executor_ = ThreadRef(UserThread::Current());
  }
  while (!stopping_) {
    const bool has_work = data_->executed() < data_->executable();
    if (!has_work && !drop_wanted_) {
      if (this_thread::Park() == ParkResult::kStopping) break;
      continue;
    }
    const Status status = has_work ? ExecuteSome() : OkStatus();
    if (!status.ok()) {
      loop_.Post([this, status] { Fail(Annotate(status, "executing writes")); });
      break;
    }
    FindDroppable();
  }
}

Status ReplicaAgent::ExecuteSome() {
  NEPTUNE_ASSIGN_OR_RETURN(std::vector<ExecutedEntry> executed,
                           data_->ExecuteSome(*log_, hooks_.before_write));
  if (executed.empty()) return OkStatus();
  loop_.Post([this, executed = std::move(executed)] {
    writes_->Deliver(executed);
    WakePump();  // to publish the new state
  });
  return OkStatus();
}

// Finds log entries that the data contain durably and that no member needs.
void ReplicaAgent::FindDroppable() {
  const Lsn executed = data_->executed();
  const size_t size = log_->size();
  dropped_at_size_ = std::min(dropped_at_size_, size);
  const bool has_grown = executed >= dropped_at_ + kDropInterval ||
                         size >= dropped_at_size_ + options_.log_size_max / kDropShare;
  if (!drop_wanted_.exchange(false) && !has_grown) return;
  dropped_at_ = executed;
  dropped_at_size_ = size;
  const StatusOr<Lsn> flushed = data_->Flush();
  if (!flushed.ok()) return;
  loop_.Post([this, flushed = *flushed] {
    if (stopping_) return;
    const bool is_large = log_->size() > options_.log_size_max;
    const Lsn kept = flushed > options_.kept_count ? flushed - options_.kept_count : 0;
    const Lsn last = protocol_->LastDroppable(is_large ? flushed : kept, is_large, loop_.Now());
    if (last >= log_->first_lsn()) storer_.DropBefore(last + 1);
    WakePump();  // LastDroppable may have appended an entry
  });
}

// Snapshots.

StatusOr<ReplicaSnapshot> ReplicaAgent::Snapshot() {
  if (!data_->exists()) return FailedPrecondition("a witness has no data");
  const auto snapshot = std::make_shared<ReplicaSnapshot>();
  NEPTUNE_RETURN_IF_ERROR(data_->Collect(kSnapshotSizeMax, snapshot));
  NEPTUNE_ASSIGN_OR_RETURN(const Lsn last, MarkSnapshot(snapshot));
  if (snapshot->log) {
    NEPTUNE_RETURN_IF_ERROR(log_->CopyTo(last, kSnapshotSizeMax, &*snapshot->log));
  }
  return std::move(*snapshot);
}

// Returns the last stored entry.
StatusOr<Lsn> ReplicaAgent::MarkSnapshot(const std::shared_ptr<ReplicaSnapshot>& snapshot) {
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

void ReplicaAgent::BeginRestore(MemberIndex from) {
  if (restoring_ || !data_->exists() || !MayFollow(hooks_.disk)) return;
  restoring_ = true;
  SpawnOn(*hooks_.control, "restore", [this, from] {
    const Status status = Restore(from);
    LOG_IF(WARNING, !status.ok()) << "restoring " << options_.identity.service << "/"
                                  << options_.identity.partition << ": " << status;
    restore_pause_ =
        status.ok() ? Duration{0}
                    : std::clamp<Duration>(2 * restore_pause_, kRestorePause, kRestorePauseMax);
    board_->NoteRestore(status);
    if (!status.ok()) this_thread::SleepFor(restore_pause_);
    restoring_ = false;
    board_->EndRestore();
  });
}

Status ReplicaAgent::Restore(MemberIndex from) {
  NEPTUNE_ASSIGN_OR_RETURN(ReplicaSnapshot fetched, hooks_.fetch(from));
  auto snapshot = std::make_shared<ReplicaSnapshot>(std::move(fetched));
  ThreadLock lock(&data_->mutex());
  const EpochStart base = snapshot->base;
  if (!is_write_anywhere() && data_->executed() >= base.lsn) return OkStatus();
  board_->BeginRestore();
  const Status replaced = data_->Replace(snapshot);
  if (!replaced.ok()) {
    Fail(replaced);  // the old data are gone
    return replaced;
  }
  SnapshotMark mark = std::move(*snapshot);
  snapshot.reset();  // frees the pieces, which are large, and their place
  if (is_write_anywhere()) {
    // The log stays empty until it is stored below; data found ahead of the log after a crash are
    // emptied at the next start.
    const Status ended = data_->EndRestore(base.lsn);
    if (!ended.ok()) Fail(ended);
    NEPTUNE_RETURN_IF_ERROR(ended);
    protocol_->Handle(DataRestored{std::move(mark)}, loop_.Now());
    // Their LSNs now belong to other entries.
    writes_->FailAll("the replica restored another member's data before the write was stored");
    WakePump();
    return OkStatus();
  }
  protocol_->Handle(DataRestored{std::move(mark)}, loop_.Now());
  writes_->FailUpTo(base.lsn);
  // The data count once their log is stored.
  TakeActions();
  WakePump();
  const uint64_t number = storer_.last_number();
  while (!stopping_ && !storer_.IsStored(number)) {
    if (this_thread::SleepFor(kRestorePoll) == ParkResult::kStopping) break;
  }
  if (!storer_.IsStored(number)) return Cancelled("the replica stopped during the restore");
  const Status ended = data_->EndRestore(base.lsn);
  if (!ended.ok()) Fail(ended);
  return ended;
}

// Reads.

uint64_t ReplicaAgent::restore_count() const { return data_->restore_count(); }
const ReplicatedState* ReplicaAgent::state() const { return data_->state(); }
const std::string& ReplicaAgent::read_path() const { return device_->path(ReplicaLane::kRead); }

ReplicaAgent::State ReplicaAgent::status() const {
  State state = board_->state();
  state.executed = data_->executed();
  state.is_witness = options_.group.IsWitness(options_.group.self);
  state.snapshots_sent = snapshots_sent_;
  state.snapshots_taken = data_->restore_count();
  return state;
}

std::optional<Duration> ReplicaAgent::State::Staleness(TimePoint now) const {
  if (now < leased_until) return Duration{0};
  if (current_as_of == TimePoint::min()) return std::nullopt;
  return std::max(now - current_as_of, Duration{0});
}

std::string_view ReplicaAgent::State::RoleName() const {
  const bool takes_part = role != ReplicaRole::kBlank && role != ReplicaRole::kRecovering;
  return is_witness && takes_part ? "witness" : NameOf(role);
}

ReplicaReport ReplicaAgent::Report() const {
  ReplicaReport report;
  if (is_write_anywhere()) return report;  // LSNs are local to each log
  const ReplicaBoard::Leader leader = board_->leader();
  report.version = data_->executed();
  report.epoch = leader.epoch;
  if (leader.primary) report.primary = NodeOf(*leader.primary);
  return report;
}

ReplicaReport ReplicaAgent::ReportWrite(Lsn version) const {
  ReplicaReport report = Report();
  report.was_served = true;
  if (is_write_anywhere()) return report;
  report.version = version;
  report.staleness = Duration{0};
  return report;
}

StatusOr<ReplicaAgent::Read> ReplicaAgent::BeginRead(const ReplicaDemand& demand,
                                                     TimePoint now) const {
  if (!data_->exists()) return FailedPrecondition("a witness has no data");
  Read read;
  read.restore_count = data_->restore_count();
  const Lsn version = data_->executed();
  const State state = status();
  if (!state.failure.ok()) return Unavailable("the replica has failed");
  if (data_->is_distrusted())
    return Unavailable("the replica has lost its log, and asks the others");
  if (state.is_restoring) return Unavailable("the replica is restoring another member's data");
  if (is_write_anywhere()) {
    if (demand.staleness_max)
      return InvalidArgument("level write_anywhere does not support staleness bounds");
    if (state.role != ReplicaRole::kPeer) return Unavailable("the replica has not caught up yet");
    return read;
  }
  read.current_as_of = now < state.leased_until ? now : state.current_as_of;
  if (options_.level != ConsistencyLevel::kStalenessBounded && !demand.staleness_max) return read;
  const Duration bound = demand.staleness_max.value_or(options_.staleness_max);
  const bool is_fresh = read.current_as_of != TimePoint::min() && now - read.current_as_of <= bound;
  if (is_fresh && version >= demand.version_min) return read;
  if (state.primary == options_.group.self) return Unavailable("the primary is not ready");
  return FailedPrecondition("the replica is behind");
}

StatusOr<ReplicaReport> ReplicaAgent::EndRead(const Read& read, TimePoint now) const {
  if (read.restore_count != data_->restore_count())
    return Unavailable("the data were replaced during the read");
  ReplicaReport report = Report();
  report.was_served = true;
  if (is_write_anywhere()) return report;
  report.version = std::max(data_->executed(), data_->executing_to());
  if (read.current_as_of != TimePoint::min()) report.staleness = now - read.current_as_of;
  return report;
}

Lsn ReplicaAgent::VersionAgo(Duration age, TimePoint now) const {
  return board_->VersionAgo(age, now);
}

std::optional<MemberIndex> ReplicaAgent::MemberOf(const NodeId& node) const {
  for (size_t i = 0; i < options_.group.members.size(); ++i) {
    if (options_.group.members[i].node == node) return static_cast<MemberIndex>(i);
  }
  return std::nullopt;
}

}  // namespace neptune
