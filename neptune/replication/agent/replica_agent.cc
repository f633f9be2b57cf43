#include "neptune/replication/agent/replica_agent.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/replication/agent/data_opening.h"
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
// Entries that are searched for the newest write.
constexpr Lsn kNotWritesMax = 1'000;

// Learns the times of the writes that the log and the data have. Times of entries before the newest
// write are not later; other kinds of entries are rare.
Status NoteAccepted(const ReplicaLog& log, const ReplicaData& data, AcceptanceClock& accepted) {
  if (data.exists()) accepted.Note(data.state()->newest_write());
  const Lsn last = log.last_lsn();
  const Lsn first = std::max(log.first_lsn(), last - std::min(kNotWritesMax, last));
  for (Lsn lsn = last; lsn >= first; --lsn) {
    NEPTUNE_ASSIGN_OR_RETURN(const std::vector<LogEntry> entries, log.Read(lsn, lsn, 1));
    accepted.Note(entries.front());
    if (IsWrite(entries.front().kind)) break;
  }
  return OkStatus();
}

// The damaged data are destroyed, because others, which end with `base`, have arrived.
Status PrepareRepair(Lsn base, const ReplicaLog& log, ReplicaData& data) {
  if (base == 0 || base < log.first_lsn() - 1) {
    return Unavailable("the other member's data end with write ", base,
                       ", before this member's log begins");
  }
  if (data.exists()) return OkStatus();
  NEPTUNE_RETURN_IF_ERROR(data.Destroy());
  return data.Open();
}

// `disk`: null: its room is not known.
bool MayFollow(const DiskRoom* disk) { return disk == nullptr || disk->may_follow(); }

}  // namespace

// Counted before the agent's state is looked at, so that either the visitor sees that the agent has
// stopped, or the thread that closes the stores sees the visitor.
class ReplicaAgent::Visit {
 public:
  explicit Visit(ReplicaAgent& agent) : agent_(agent) { ++agent_.visitor_count_; }
  ~Visit() { --agent_.visitor_count_; }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  // OK if the data may be used.
  Status Check() const {
    if (agent_.stopping_) return Unavailable("the replica has stopped");
    if (agent_.board_->IsRepairing()) return Unavailable("the replica's data are being repaired");
    if (!agent_.data_->exists()) return FailedPrecondition("a witness has no data");
    if (agent_.data_->is_distrusted()) return Unavailable("the data are not known to be current");
    return OkStatus();
  }

 private:
  ReplicaAgent& agent_;
};

ReplicaAgent::ReplicaAgent(ReplicaAgentOptions options, Hooks hooks)
    : options_(std::move(options)),
      hooks_(std::move(hooks)),
      loop_(*hooks_.control->loop),
      device_(std::make_unique<ReplicaDevice>(hooks_.capsules, options_.identity.service,
                                              options_.identity.partition, stopping_)),
      log_(std::make_unique<ReplicaLog>(*device_, *hooks_.logs, options_.identity)),
      data_(std::make_unique<ReplicaData>(*device_, hooks_.open_state, hooks_.destroy_state)),
      storer_(*log_, stopping_, StoringHooks()),
      board_(std::make_unique<ReplicaBoard>()),
      writes_(std::make_unique<PendingWrites>()) {}

ReplicaAgent::~ReplicaAgent() = default;

Status ReplicaAgent::Start(const Opening& opening) {
  NEPTUNE_RETURN_IF_ERROR(log_->Open());
  // A damaged log proves it by being forgotten.
  const bool proves_disk = opening.proves_disk && log_->damage().ok();
  if (proves_disk) NEPTUNE_RETURN_IF_ERROR(log_->Prove());
  NEPTUNE_RETURN_IF_ERROR(OpenData(opening.data_are_damaged));
  data_->BeginAfter(log_->found().base.lsn);
  if (data_->exists() && !is_write_anywhere()) {
    readable_from_ = std::min(log_->found().committed, log_->found().last_lsn);
  }
  NEPTUNE_RETURN_IF_ERROR(NoteAccepted(*log_, *data_, accepted_));
  NEPTUNE_RETURN_IF_ERROR(MakeProtocol());
  SpawnOn(*hooks_.control, "replica", [this] { Pump(); });
  SpawnOn(*hooks_.control, "store", [this] { storer_.Run(); });
  if (repairing_) SpawnOn(*hooks_.control, "repair", [this] { Repair(); });
  if (data_->exists()) SpawnOn(*hooks_.worker, "execute", [this] { Execute(); });
  return OkStatus();
}

void ReplicaAgent::CloseStores() {
  data_->Close();
  log_->Close();
}

Status ReplicaAgent::OpenData(bool are_damaged) {
  const LogIdentity& identity = options_.identity;
  DataOpening opening(
      {.group = options_.group,
       .has_data = hooks_.open_state != nullptr,
       .is_ordered = !is_write_anywhere(),
       .can_repair = !is_write_anywhere() && options_.mode == ReplicationMode::kSafe,
       .name = StrCat(identity.service, "/", identity.partition)},
      *log_, *data_);
  const Status opened = opening.Open(are_damaged);
  board_->NoteDamage(opening.damage());
  NEPTUNE_RETURN_IF_ERROR(opened);
  repairing_ = !opening.repair().ok();
  if (repairing_) board_->BeginRepair(opening.repair());
  return OkStatus();
}

Status ReplicaAgent::MakeProtocol() {
  ReplicaGroup group = options_.group;
  // A member without its data is a witness to itself, so it does not lead.
  if (repairing_) group.members[group.self].is_witness = true;
  // 0 is not a valid incarnation.
  const uint64_t incarnation = loop_.random().Next() | 1;
  if (is_write_anywhere()) {
    NEPTUNE_ASSIGN_OR_RETURN(OriginIndex index, log_->Index());
    protocol_ = std::make_unique<CommutativeProtocol>(options_.group, log_->found(),
                                                      std::move(index), incarnation, loop_.Now());
    return OkStatus();
  }
  if (options_.mode == ReplicationMode::kSafe) {
    protocol_ = std::make_unique<SafeReplica>(group, SafeReplicaOptions(), log_->found(),
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
    const auto self = shared_from_this();
    --threads_alive_;
    loop_.Post([self, status = started.status()] { self->Fail(status); });
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
  for (const LogEntry& entry : actions.change.entries) accepted_.Note(entry);
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
  if (status.code() == StatusCode::kCancelled || has_ended_) return;
  has_ended_ = true;
  has_repaired_ = status.ok();
  LOG_IF(ERROR, !status.ok()) << "replica of " << options_.identity.service << "/"
                              << options_.identity.partition << " stopped: " << status;
  if (!status.ok()) board_->Fail(status);
  Stop();
  if (hooks_.on_end) hooks_.on_end();
}

bool ReplicaAgent::data_are_damaged() const { return data_->is_damaged(); }

void ReplicaAgent::ReportDamage(const Status& damage) {
  loop_.Post([self = shared_from_this(), damage] {
    if (self->stopping_) return;
    self->data_->NoteDamage();
    self->Fail(Annotate(damage, "reading"));
  });
}

Status ReplicaAgent::StartByHand() {
  struct Answer {
    OneShotEvent done;
    Status status;
  };
  const auto answer = std::make_shared<Answer>();
  loop_.Post([self = shared_from_this(), this, answer] {
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
  loop_.Post([self = shared_from_this(), write = std::move(write), pending]() mutable {
    self->Propose(std::move(write), std::move(pending));
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
  write.accepted_at = accepted_.TimeOf(hooks_.world->wall_time());
  accepted_.Note(write.accepted_at);
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
      loop_.Post([self = shared_from_this(), status] {
        self->Fail(Annotate(status, "executing writes"));
      });
      break;
    }
    FindDroppable();
  }
}

Status ReplicaAgent::ExecuteSome() {
  NEPTUNE_ASSIGN_OR_RETURN(std::vector<ExecutedEntry> executed,
                           data_->ExecuteSome(*log_, hooks_.before_write));
  if (executed.empty()) return OkStatus();
  loop_.Post([self = shared_from_this(), this, executed = std::move(executed)] {
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
  // Flushing again would prove nothing: the system may have dropped what it could not write.
  if (!flushed.ok()) {
    return loop_.Post([self = shared_from_this(), status = flushed.status()] {
      self->Fail(Annotate(status, "flushing the data"));
    });
  }
  loop_.Post([self = shared_from_this(), this, flushed = *flushed] {
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
  const Visit visit(*this);
  NEPTUNE_RETURN_IF_ERROR(visit.Check());
  const auto snapshot = std::make_shared<ReplicaSnapshot>();
  const Status collected = data_->Collect(kSnapshotSizeMax, snapshot);
  if (collected.code() == StatusCode::kDataLoss) ReportDamage(collected);
  NEPTUNE_RETURN_IF_ERROR(collected);
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
  loop_.Post([self = shared_from_this(), this, end = snapshot->base.lsn, answer] {
    if (!stopping_) answer->mark = protocol_->MarkOf(end, log_->first_lsn() - 1);
    answer->last = protocol_->status().committed;
    answer->done.Set();
  });
  if (answer->done.Wait() != ParkResult::kWoken) return Cancelled("the node is stopping");
  if (!answer->mark) return Unavailable("the log no longer has the needed entries");
  static_cast<SnapshotMark&>(*snapshot) = *std::move(answer->mark);
  return answer->last;
}

StatusOr<VerifiedPart> ReplicaAgent::Verify(const std::string& from, size_t size_max) {
  const Visit visit(*this);
  NEPTUNE_RETURN_IF_ERROR(visit.Check());
  StatusOr<VerifiedPart> part = data_->Verify(from, size_max);
  if (part.status().code() == StatusCode::kDataLoss) ReportDamage(part.status());
  return part;
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
  if (repairing_) NEPTUNE_RETURN_IF_ERROR(PrepareRepair(base.lsn, *log_, *data_));
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
    accepted_.Note(data_->state()->newest_write());
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
  if (ended.ok()) accepted_.Note(data_->state()->newest_write());
  if (!ended.ok()) Fail(ended);
  return ended;
}

void ReplicaAgent::Repair() {
  Duration pause = kRestorePause;
  while (!stopping_) {
    const std::optional<MemberIndex> primary = protocol_->status().primary;
    const bool can_ask = primary && *primary != options_.group.self;
    const Status status =
        can_ask ? Restore(*primary) : Unavailable("no other member leads the partition");
    board_->NoteRestore(status);
    if (status.ok() && data_->executed() > 0) return Fail(OkStatus());
    LOG_IF(WARNING, can_ask) << "repairing " << options_.identity.service << "/"
                             << options_.identity.partition << ": " << status;
    const TimePoint end = this_thread::Now() + pause;
    while (!stopping_ && this_thread::Now() < end) {
      if (this_thread::SleepFor(kRestorePause) == ParkResult::kStopping) return;
    }
    if (can_ask) pause = std::min(2 * pause, kRestorePauseMax);
  }
}

// Reads.

uint64_t ReplicaAgent::restore_count() const { return data_->restore_count(); }
const ReplicatedState* ReplicaAgent::state() const { return data_->state(); }
const std::string& ReplicaAgent::read_path() const { return device_->path(ReplicaLane::kRead); }

ReplicaAgent::State ReplicaAgent::status() const {
  State state = board_->state();
  state.executed = data_->executed();
  state.readable_from = readable_from_;
  state.is_distrusted = data_->is_distrusted();
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
  if (leader.primary && !stopping_) report.primary = NodeOf(*leader.primary);
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
  Read read;
  read.restore_count = data_->restore_count();
  const Lsn version = data_->executed();
  const State state = status();
  if (stopping_ || !state.failure.ok()) return Unavailable("the replica has stopped");
  if (!state.repair.ok()) return Unavailable("the replica's data are being repaired");
  if (!data_->exists()) return FailedPrecondition("a witness has no data");
  if (state.is_distrusted) return Unavailable("the replica has lost its log, and asks the others");
  if (state.is_restoring) return Unavailable("the replica is restoring another member's data");
  if (is_write_anywhere()) {
    if (demand.staleness_max)
      return InvalidArgument("level write_anywhere does not support staleness bounds");
    if (state.role != ReplicaRole::kPeer) return Unavailable("the replica has not caught up yet");
    return read;
  }
  if (version < readable_from_) return Unavailable("the replica is executing its log again");
  read.current_as_of = now < state.leased_until ? now : state.current_as_of;
  if (options_.level != ConsistencyLevel::kStalenessBounded && !demand.staleness_max) return read;
  const Duration bound = demand.staleness_max.value_or(options_.staleness_max);
  const bool is_fresh = read.current_as_of != TimePoint::min() && now - read.current_as_of <= bound;
  if (is_fresh && version >= demand.version_min) return read;
  if (state.primary == options_.group.self) return Unavailable("the primary is not ready");
  return FailedPrecondition("the replica is behind");
}

StatusOr<ReplicaReport> ReplicaAgent::EndRead(const Read& read, TimePoint now) const {
  if (stopping_ || read.restore_count != data_->restore_count())
    return Unavailable("the data were closed or replaced during the read");
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
