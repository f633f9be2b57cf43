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
#include "neptune/replication/agent/replica_restore.h"
#include "neptune/replication/agent/snapshot_message.h"
#include "neptune/replication/agent/snapshot_sender.h"
#include "neptune/replication/protocol/commutative_protocol.h"
#include "neptune/replication/protocol/fail_stop/fail_stop_replica.h"
#include "neptune/replication/protocol/safe/safe_replica.h"

namespace neptune {
namespace {

// Droppable log entries are looked for after this many executed ones, or once the log has grown by
// this part of its maximum size.
constexpr Lsn kDropInterval = 2'000;
constexpr size_t kDropShare = 16;
// For snapshots under way and members that keep up, the log may exceed its maximum size by this
// part of it. With what comes between two looks it stays below a fifth.
constexpr size_t kPinShare = 10;

// Delay before a member whose data are to be repaired looks for another one that leads.
constexpr Duration kRepairPause = std::chrono::milliseconds(100);
constexpr Duration kSnapshotLook = std::chrono::seconds(1);
// Entries that are searched for the newest write.
constexpr Lsn kNotWritesMax = 1'000;

LogPressure PressureOf(size_t size, size_t size_max) {
  if (size <= size_max) return LogPressure::kNone;
  return size <= size_max + size_max / kPinShare ? LogPressure::kLarge : LogPressure::kFull;
}

// Makes ready for others' data, which end with this write or a later one: data before the log would
// leave a hole. Data that are damaged are destroyed.
Status PrepareRestore(Lsn data_end, const ReplicaLog& log, ReplicaData& data) {
  if (data_end == 0 || data_end < log.first_lsn() - 1) {
    return Unavailable("the other member's data end with write ", data_end,
                       ", before this member's log begins");
  }
  if (data.exists()) return OkStatus();
  NEPTUNE_RETURN_IF_ERROR(data.Destroy());
  return data.Open();
}

// `disk`: null: its room is not known.
bool MayFollow(const DiskRoom* disk) { return disk == nullptr || disk->may_follow(); }

// Idle snapshots are looked for also while nothing else happens.
TimePoint NextLook(const ReplicationProtocol& protocol, const SnapshotSender& sender,
                   TimePoint now) {
  const TimePoint next = protocol.NextEvent();
  return sender.totals().active == 0 ? next : std::min(next, now + kSnapshotLook);
}

// True if the disk takes new writes.
bool HasRoom(const DiskRoom* disk) {
  return disk == nullptr || disk->level() < DiskRoom::Level::kFull;
}

std::optional<MemberIndex> OtherPrimary(const ReplicationProtocol& protocol, MemberIndex self) {
  const std::optional<MemberIndex> primary = protocol.status().primary;
  return primary == self ? std::nullopt : primary;
}

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
      restore_(MakeRestore()),
      sender_(std::make_unique<SnapshotSender>(
          *device_, *log_, *data_, options_.identity.is_ordered,
          SnapshotSender::Hooks{.take_place = hooks_.take_send_place,
                                .mark = [this](Lsn last) { return MarkSnapshot(last); },
                                .disk = hooks_.disk,
                                .memory = hooks_.memory})),
      writes_(std::make_unique<PendingWrites>()) {}

ReplicaAgent::~ReplicaAgent() = default;

Status ReplicaAgent::Start(const Opening& opening) {
  NEPTUNE_RETURN_IF_ERROR(log_->Open());
  // A damaged log proves it by being forgotten.
  const bool proves_disk = opening.proves_disk && log_->damage().ok();
  if (proves_disk) NEPTUNE_RETURN_IF_ERROR(log_->Prove());
  NEPTUNE_RETURN_IF_ERROR(OpenData(opening.data_are_damaged));
  if (hooks_.open_state != nullptr) NEPTUNE_RETURN_IF_ERROR(restore_->Clear());
  data_->BeginAfter(log_->found().base.lsn);
  if (data_->exists() && !is_write_anywhere()) {
    readable_from_ = std::min(log_->found().committed, log_->found().last_lsn);
  }
  if (data_->exists()) accepted_.Note(data_->state()->newest_write());
  NEPTUNE_RETURN_IF_ERROR(log_->NoteAccepted(accepted_));
  NEPTUNE_RETURN_IF_ERROR(MakeProtocol());
  for (MemberIndex member = 0; hooks_.hears != nullptr && member < options_.group.size();
       ++member) {
    if (member != options_.group.self && hooks_.hears(member)) NotePeer({.member = member});
  }
  SpawnOn(*hooks_.control, "replica", [this] { Pump(); });
  SpawnOn(*hooks_.control, "store", [this] { storer_.Run(); });
  if (repairing_) SpawnOn(*hooks_.control, "repair", [this] { Repair(); });
  if (data_->exists()) SpawnOn(*hooks_.worker, "execute", [this] { Execute(); });
  is_started_ = true;
  return OkStatus();
}

void ReplicaAgent::CloseStores() {
  sender_->Close(sender_->TakeExpired(TimePoint::max()));  // their views keep the store open
  restore_->Close();
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
  restore_->Wake();
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
    const bool has_room = HasRoom(hooks_.disk);
    if (has_room != std::exchange(has_room_, has_room)) {
      protocol_->Handle(RoomChanged{has_room}, loop_.Now());
    }
    if (loop_.Now() >= protocol_->NextEvent()) protocol_->Handle(TimePassed(), loop_.Now());
    TakeActions();
    Publish();
    CloseIdleSnapshots();
    if (!outgoing_.empty()) {
      for (size_t count = outgoing_.size(); count > 0 && !stopping_; --count) SendNext();
    } else if (this_thread::Park(NextLook(*protocol_, *sender_, loop_.Now())) ==
               ParkResult::kStopping) {
      break;
    }
  }
  stopping_ = true;
  const bool has_led = protocol_->status().role == ReplicaRole::kPrimary;
  if (has_led && hooks_.on_lead_end) hooks_.on_lead_end();
  for (const auto& ready : std::exchange(ready_waiters_, {})) ready->Set();
  storer_.Wake();
  sender_->Close(sender_->TakeExpired(TimePoint::max()));
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
  hooks.restore = [this](MemberIndex from) {
    if (!data_->exists() || !MayFollow(hooks_.disk) || !restore_->Want(from)) return;
    SpawnOn(*hooks_.control, "restore", [this] {
      (void)restore_->Run();  // on_result has shown it
      board_->EndRestore();
    });
  };
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
  if (ready_waiters_.empty()) return;
  const bool leads = standing.primary == options_.group.self;
  if (leads && loop_.Now() >= board_->state().leased_until) return;
  for (const auto& ready : std::exchange(ready_waiters_, {})) ready->Set();
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

void ReplicaAgent::CheckLog() {
  loop_.Post([self = shared_from_this(), this] {
    if (stopping_ || !is_started_) return;
    const SharedLog::Damage decay = log_->decay();
    if (decay.status.ok()) return;
    const bool has_executed = data_->exists() && data_->executed() >= decay.last_lost;
    if (decay.last_lost == 0 || !has_executed) {
      return Fail(Annotate(decay.status, "checking the log"));
    }
    drop_wanted_ = true;
    WakeExecutor();
  });
}

Status ReplicaAgent::StartByHand() {
  struct Answer {
    OneShotEvent done;
    Status status;
  };
  const auto answer = std::make_shared<Answer>();
  loop_.Post([self = shared_from_this(), this, answer] {
    if (stopping_ || protocol_ == nullptr) {
      answer->status = Unavailable("the replica has stopped");
    } else if (board_->state().is_restoring) {
      answer->status = FailedPrecondition("the replica is restoring another member's data");
    } else {
      answer->status = protocol_->StartByHand(loop_.Now());
    }
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

// The log of `write_anywhere` keeps everything that other members lack.
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
  if (!pending->failure.ok()) {
    WakePump();  // a primary that rests notices that its disk is full
    return pending->done.Set();
  }
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
  loop_.Post([self = shared_from_this(), this, executed = std::move(executed)]() mutable {
    writes_->Deliver(std::move(executed));
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
    const LogPressure pressure = PressureOf(log_->size(), options_.log_size_max);
    const Lsn kept = flushed > options_.kept_count ? flushed - options_.kept_count : 0;
    const Lsn wanted = pressure == LogPressure::kNone ? kept : flushed;
    Lsn last = protocol_->LastDroppable(wanted, pressure, loop_.Now());
    if (pressure != LogPressure::kFull) last = std::min(last, sender_->PinnedAfter());
    const SharedLog::Damage decay = log_->decay();
    if (decay.last_lost > last) {  // no member can be sent it
      const Lsn lost = std::min(decay.last_lost, flushed);
      last = std::max(last, protocol_->LastDroppable(lost, LogPressure::kFull, loop_.Now()));
      if (last < decay.last_lost) return Fail(Annotate(decay.status, "dropping what is lost"));
    }
    if (last >= log_->first_lsn()) storer_.DropBefore(last + 1);
    WakePump();  // LastDroppable may have appended an entry
  });
}

// Snapshots.

StatusOr<std::string> ReplicaAgent::PullSnapshot(const SnapshotPull& pull) {
  const Visit visit(*this);
  if (!is_started_) return Unavailable("the replica is starting");
  NEPTUNE_RETURN_IF_ERROR(visit.Check());
  StatusOr<std::string> chunk = sender_->Pull(pull);
  if (chunk.ok() || !data_->is_damaged()) return chunk;
  ReportDamage(chunk.status());
  return Unavailable("the data cannot be read: ", ToStd(chunk.status().message()));
}

StatusOr<SnapshotMark> ReplicaAgent::MarkSnapshot(Lsn last) {
  struct Answer {
    OneShotEvent done;
    std::optional<SnapshotMark> mark;
  };
  const auto answer = std::make_shared<Answer>();
  loop_.Post([self = shared_from_this(), this, last, answer] {
    if (!stopping_) answer->mark = protocol_->MarkOf(last, log_->first_lsn() - 1);
    answer->done.Set();
  });
  if (answer->done.Wait() != ParkResult::kWoken) return Cancelled("the node is stopping");
  if (!answer->mark) return Unavailable("the log no longer has the needed entries");
  return *std::move(answer->mark);
}

void ReplicaAgent::CloseIdleSnapshots() {
  SnapshotSender::Sessions idle = sender_->TakeExpired(loop_.Now());
  if (idle.empty()) return;
  SpawnOn(*hooks_.control, "snapshot",
          [this, idle = std::move(idle)]() mutable { sender_->Close(std::move(idle)); });
}

std::unique_ptr<ReplicaRestore> ReplicaAgent::MakeRestore() {
  ReplicaRestore::Hooks hooks;
  hooks.fetch = [this](MemberIndex from, const SnapshotPull& pull) -> StatusOr<SnapshotChunk> {
    if (!MayFollow(hooks_.disk)) return ResourceExhausted("the disk is almost full");
    return hooks_.fetch(from, pull);
  };
  hooks.leave = [this](MemberIndex from, uint64_t token) {
    SpawnOn(*hooks_.control, "leave", [this, from, token] {
      SnapshotPull pull;
      pull.token = token;
      pull.is_over = true;
      (void)hooks_.fetch(from, pull);
    });
  };
  hooks.take_place = hooks_.take_restore_place;
  hooks.handle = [this](ProtocolEvent event) {
    protocol_->Handle(std::move(event), loop_.Now());
    TakeActions();
    WakePump();
  };
  hooks.fail_writes = [this](std::optional<Lsn> last) {
    if (last) return writes_->FailUpTo(*last);
    writes_->FailAll("the replica restored another member's data before the write was stored");
  };
  hooks.prepare = [this](Lsn data_end) {
    // At level 1 the other member's log comes too.
    return is_write_anywhere() ? OkStatus() : PrepareRestore(data_end, *log_, *data_);
  };
  hooks.on_begin = [this] { board_->BeginRestore(); };
  hooks.on_result = [this](const Status& status) {
    LOG_IF(WARNING, !status.ok()) << "restoring " << options_.identity.service << "/"
                                  << options_.identity.partition << ": " << status;
    board_->NoteRestore(status);
    if (status.ok() && data_->exists()) accepted_.Note(data_->state()->newest_write());
    // At the other restores the log says from whom.
    const auto primary = OtherPrimary(*protocol_, options_.group.self);
    if (repairing_ && primary) restore_->Redirect(*primary);
  };
  hooks.on_failure = [this](const Status& status) { Fail(status); };
  const std::string spool =
      StrCat("restore-", options_.identity.service, "-", options_.identity.partition);
  return std::make_unique<ReplicaRestore>(
      ReplicaRestore::Parts{*device_, *data_, storer_, hooks_.world->storage(), hooks_.memory},
      spool, options_.identity.is_ordered, stopping_, std::move(hooks));
}

StatusOr<VerifiedPart> ReplicaAgent::Verify(const std::string& from, size_t size_max) {
  const Visit visit(*this);
  NEPTUNE_RETURN_IF_ERROR(visit.Check());
  StatusOr<VerifiedPart> part = data_->Verify(from, size_max);
  if (part.status().code() == StatusCode::kDataLoss) ReportDamage(part.status());
  return part;
}

void ReplicaAgent::Repair() {
  while (!stopping_) {
    const auto primary = OtherPrimary(*protocol_, options_.group.self);
    Status status = Unavailable("no other member leads the partition");
    const bool can_ask = primary && MayFollow(hooks_.disk);
    if (can_ask && restore_->Want(*primary)) status = restore_->Run();
    if (!primary) board_->NoteRestore(status);
    board_->EndRestore();
    if (status.ok() && data_->executed() > 0) return Fail(OkStatus());
    if (this_thread::SleepFor(kRepairPause) == ParkResult::kStopping) return;
  }
}

}  // namespace neptune
