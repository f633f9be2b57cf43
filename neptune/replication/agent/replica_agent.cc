#include "neptune/replication/agent/replica_agent.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/capsule/device_call.h"
#include "neptune/replication/log/log_pieces.h"
#include "neptune/replication/protocol/commutative_protocol.h"
#include "neptune/replication/protocol/fail_stop/fail_stop_replica.h"
#include "neptune/replication/protocol/safe/safe_replica.h"

namespace neptune {
namespace {

// Maximum bytes of entries executed in one device call.
constexpr size_t kExecuteSizeMax = 256u << 10;
// Maximum bytes of entries in one message.
constexpr size_t kSendSizeMax = 512u << 10;
// Piece sizes for reading and storing a whole log.
constexpr size_t kLogPieceSize = 1u << 20;
constexpr size_t kStorePieceSize = 64u << 20;
// Number of executed entries between checks for droppable log entries.
constexpr Lsn kDropInterval = 2'000;
// Delay before a device call is retried that an overloaded device capsule refused.
constexpr Duration kDevicePause = std::chrono::milliseconds(5);
// A primary remembers kVersionCountMax versions, one per interval.
constexpr Duration kVersionInterval = std::chrono::milliseconds(20);
constexpr size_t kVersionCountMax = 1024;

std::string StoreName(const LogIdentity& identity, const char* part) {
  return StrCat(part, "-", identity.service, "-", identity.partition);
}

// Reads the first entries of the runs that fit into a message, and removes them from the runs.
Status ReadSome(const RedoLog& log, std::deque<LogRun>* places, std::vector<LogEntry>* entries) {
  size_t size = 0;
  while (!places->empty() && size <= kSendSizeMax) {
    LogRun& run = places->front();
    NEPTUNE_ASSIGN_OR_RETURN(std::vector<LogEntry> read,
                             log.Read(run.first, run.last, kSendSizeMax));
    run.first += read.size();
    for (LogEntry& entry : read) {
      size += entry.payload.size();
      entries->push_back(std::move(entry));
    }
    if (run.first <= run.last) break;
    places->pop_front();
  }
  return OkStatus();
}

// Like ReadSome, for entries that are about to be stored. REQUIRES: `change` has the first one.
std::vector<LogEntry> CollectSome(const LogChange& change, std::deque<LogRun>* places) {
  std::vector<LogEntry> entries;
  LogRun& run = places->front();
  size_t size = 0;
  for (size_t i = run.first - change.entries.front().lsn; i < change.entries.size(); ++i) {
    const LogEntry& entry = change.entries[i];
    if (entry.lsn > run.last || size > kSendSizeMax) break;
    size += entry.payload.size();
    entries.push_back(entry);
  }
  run.first += entries.size();
  if (run.first > run.last) places->pop_front();
  return entries;
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
  return Cancelled("the node is stopping");
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

// A log whose base is after the data, or (level 1) data that end after the log, result from an
// unfinished restore. Both are emptied, so the member counts as one with a new disk.
Status ReplicaAgent::BeginAnewUnlessSound() {
  if (state_ == nullptr) return OkStatus();
  const Lsn completed = state_->completed();
  const bool is_ahead = is_write_anywhere() && completed > log_->opened().last_lsn;
  if (completed >= log_->opened().base.lsn && !is_ahead) return OkStatus();
  LOG(WARNING) << options_.identity.service << "/" << options_.identity.partition
               << " starts over empty: its log and data do not fit together";
  NEPTUNE_RETURN_IF_ERROR(OnDevice([this, name = StoreName(options_.identity, "log")]() -> Status {
    NEPTUNE_RETURN_IF_ERROR(state_->BeginRestore());  // reopening then finds it empty
    state_.reset();
    log_.reset();
    log_store_.reset();
    return hooks_.world->storage().Destroy(name);
  }));
  NEPTUNE_RETURN_IF_ERROR(OpenLog());
  return OpenState();
}

Status ReplicaAgent::Start() {
  NEPTUNE_RETURN_IF_ERROR(OpenLog());
  NEPTUNE_RETURN_IF_ERROR(OpenState());
  NEPTUNE_RETURN_IF_ERROR(BeginAnewUnlessSound());
  executed_ = state_ == nullptr ? 0 : std::max(state_->completed(), log_->opened().base.lsn);
  executing_to_ = executed_.load();
  NEPTUNE_RETURN_IF_ERROR(MakeProtocol());
  SpawnOn(*hooks_.control, "replica", [this] { Pump(); });
  if (state_ != nullptr) SpawnOn(*hooks_.worker, "execute", [this] { Execute(); });
  return OkStatus();
}

Status ReplicaAgent::MakeProtocol() {
  // 0 is not a valid incarnation.
  const uint64_t incarnation = loop_.random().Next() | 1;
  if (is_write_anywhere()) {
    NEPTUNE_ASSIGN_OR_RETURN(OriginIndex index, IndexLog());
    protocol_ = std::make_unique<CommutativeProtocol>(options_.group, log_->opened(),
                                                      std::move(index), incarnation, loop_.Now());
    return OkStatus();
  }
  if (options_.mode == ReplicationMode::kSafe) {
    protocol_ = std::make_unique<SafeReplica>(options_.group, SafeReplicaOptions(), log_->opened(),
                                              incarnation, loop_.random().Next(), loop_.Now());
    return OkStatus();
  }
  LogOutline found = log_->opened();
  found.committed = std::max(found.committed, executed_.load());  // CHECK
  protocol_ = std::make_unique<FailStopReplica>(options_.group, FailStopReplicaOptions(), found,
                                                incarnation, loop_.Now());
  return OkStatus();
}

// Builds the index of a level 1 log.
StatusOr<OriginIndex> ReplicaAgent::IndexLog() {
  const LogOutline& found = log_->opened();
  const auto index = std::make_shared<OriginIndex>(found.base.lsn);
  while (index->last_lsn() < found.last_lsn) {
    NEPTUNE_RETURN_IF_ERROR(OnDevice([log = log_, index, last = found.last_lsn]() -> Status {
      NEPTUNE_ASSIGN_OR_RETURN(const std::vector<LogEntry> entries,
                               log->Read(index->last_lsn() + 1, last, kLogPieceSize));
      for (const LogEntry& entry : entries) NEPTUNE_RETURN_IF_ERROR(index->Append(entry));
      return OkStatus();
    }));
  }
  return std::move(*index);
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

// The protocol, on the control loop.

void ReplicaAgent::Receive(MemberIndex from, ProtocolMessage message) {
  if (stopping_ || protocol_ == nullptr) return;
  protocol_->Handle(MessageReceived{from, std::move(message)}, loop_.Now());
  if (pump_) pump_->Wake();
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
    ProtocolActions actions = protocol_->DrainActions();
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
  FailWriters("the replica is stopping");
}

void ReplicaAgent::FailWriters(const char* why) {
  for (auto& [lsn, pending] : std::exchange(writers_, {})) {
    pending->failure = Unavailable(why);
    pending->done.Set();
  }
}

void ReplicaAgent::Do(ProtocolActions actions) {
  const auto change = std::make_shared<LogChange>(std::move(actions.change));
  Send(actions.at_once, *change);
  if (!change->empty()) {
    change->committed = protocol_->status().committed;
    const Status stored = Store(change);
    if (!stored.ok()) return Fail(Annotate(stored, "storing the log"));
    protocol_->Handle(ChangeStored{actions.change_number}, loop_.Now());
  }
  Send(actions.after_stored, *change);
  if (actions.restore_from) BeginRestore(*actions.restore_from);
}

Status ReplicaAgent::Store(const std::shared_ptr<LogChange>& change) {
  if (!is_write_anywhere() || !change->restart) {
    return OnDevice([log = log_, change] { return log->Store(*change); });
  }
  for (LogChange& piece : PiecesOf(std::exchange(*change, {}), kStorePieceSize)) {
    const auto stored = std::make_shared<LogChange>(std::move(piece));
    NEPTUNE_RETURN_IF_ERROR(OnDevice([log = log_, stored] { return log->Store(*stored); }));
  }
  return OkStatus();
}

void ReplicaAgent::DropLog() {
  const Lsn first = std::exchange(drop_before_, 0);
  const Status dropped = OnDevice([log = log_, first] { return log->DropBefore(first); });
  if (!dropped.ok()) return Fail(Annotate(dropped, "dropping old log entries"));
  protocol_->Handle(EntriesDropped{first}, loop_.Now());
}

void ReplicaAgent::Send(std::vector<OutgoingMessage>& messages, const LogChange& change) {
  for (OutgoingMessage& outgoing : messages) SendOne(outgoing, change);
}

void ReplicaAgent::SendOne(OutgoingMessage& outgoing, const LogChange& change) {
  do {
    ProtocolMessage message = outgoing.message;
    if (!outgoing.entries.empty()) {
      StatusOr<std::vector<LogEntry>> taken = AdoptEntries(outgoing.entries, change);
      // If entries were dropped meanwhile, send none; the next message resolves it.
      if (!taken.ok() && taken.status().code() != StatusCode::kNotFound) return;
      if (!taken.ok()) outgoing.entries.clear();
      if (taken.ok()) std::visit([&](auto& one) { one.entries = *std::move(taken); }, message);
    }
    hooks_.send(outgoing.to, message);
  } while (outgoing.is_repeated && !outgoing.entries.empty());
}

// Takes the next entries from `change` if they are about to be stored, otherwise from the log.
StatusOr<std::vector<LogEntry>> ReplicaAgent::AdoptEntries(std::deque<LogRun>& places,
                                                           const LogChange& change) {
  if (!change.entries.empty() && places.front().first >= change.entries.front().lsn) {
    return CollectSome(change, &places);
  }
  const auto left = std::make_shared<std::deque<LogRun>>(std::move(places));
  const auto entries = std::make_shared<std::vector<LogEntry>>();
  const Status status =
      OnDevice([log = log_, left, entries] { return ReadSome(*log, left.get(), entries.get()); });
  if (!status.ok()) return status;
  places = std::move(*left);
  return std::move(*entries);
}

// Returns the protocol's lease once the data contain everything that earlier primaries
// acknowledged, i.e. everything known to be committed when the lease was first held in this epoch.
TimePoint ReplicaAgent::LeasedUntil(const ReplicaStatus& standing, Lsn executed) {
  if (standing.leased_until == TimePoint::min()) return standing.leased_until;
  if (lease_epoch_ != standing.epoch) {
    lease_epoch_ = standing.epoch;
    lease_needs_ = standing.committed;
  }
  return executed >= lease_needs_ ? standing.leased_until : TimePoint::min();
}

void ReplicaAgent::Publish() {
  const ReplicaStatus standing = protocol_->status();
  executable_ = standing.committed;
  const Lsn executed = executed_;
  const size_t log_size = log_->size();
  const TimePoint now = loop_.Now();
  bool has_changed = false;
  {
    LeafLock lock(&mutex_);
    has_changed = published_.role != standing.role || published_.primary != standing.primary ||
                  published_.epoch != standing.epoch;
    static_cast<ReplicaStatus&>(published_) = standing;
    published_.leased_until = LeasedUntil(standing, executed);
    published_.executed = executed;
    published_.log_size = log_size;
    const std::optional<ReplicaFreshness>& freshness = standing.freshness;
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
             << " stopped: " << status;
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

// Bounds the log of level 1, which keeps everything that other members lack.
Status ReplicaAgent::CheckRoom() {
  if (!is_write_anywhere() || log_->size() <= options_.log_size_max) return OkStatus();
  drop_wanted_ = true;
  LeafLock lock(&mutex_);
  if (executor_) executor_->Wake();
  return ResourceExhausted("the log has ", log_->size(),
                           " bytes that other members may still need");
}

void ReplicaAgent::Propose(LogEntry write, std::shared_ptr<PendingWrite> pending) {
  pending->failure =
      stopping_ || protocol_ == nullptr ? Unavailable("the replica has stopped") : CheckRoom();
  if (!pending->failure.ok()) return pending->done.Set();
  const StatusOr<Lsn> lsn = protocol_->Propose(std::move(write), loop_.Now());
  if (!lsn.ok()) {
    pending->failure = lsn.status();
    return pending->done.Set();
  }
  pending->lsn = *lsn;
  pending->epoch = protocol_->status().epoch;
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
  if (pump_) pump_->Wake();  // to publish the new state
}

// Execution, on the worker loop.

void ReplicaAgent::Execute() {
  {
    LeafLock lock(&mutex_);
    executor_ = ThreadRef(UserThread::Current());
  }
  while (!stopping_) {
    const Lsn to = executable_;
    if (executed_ >= to && !drop_wanted_) {
      if (this_thread::Park() == ParkResult::kStopping) break;
      continue;
    }
    const Status status = executed_ < to ? ExecuteSome(to) : OkStatus();
    if (!status.ok()) {
      loop_.Post([this, status] { Fail(Annotate(status, "executing writes")); });
      break;
    }
    FindDroppable();
  }
}

Status ReplicaAgent::ExecuteSome(Lsn to) {
  ThreadLock lock(&state_mutex_);
  if (executed_ >= to) return OkStatus();  // a restore happened meanwhile
  const auto entries = std::make_shared<std::vector<LogEntry>>();
  const Status read = OnDevice([log = log_, from = executed_.load() + 1, to, entries]() -> Status {
    NEPTUNE_ASSIGN_OR_RETURN(*entries, log->Read(from, to, kExecuteSizeMax));
    return OkStatus();
  });
  if (read.code() == StatusCode::kNotFound && executable_ < to) return OkStatus();  // log restarted
  NEPTUNE_RETURN_IF_ERROR(read);
  if (hooks_.before_write) {
    for (const LogEntry& entry : *entries) {
      if (IsWrite(entry.kind)) hooks_.before_write(entry);
    }
  }
  if (!entries->empty()) executing_to_ = entries->back().lsn;
  const auto outcomes = std::make_shared<std::vector<std::pair<LogEntry, WriteOutcome>>>();
  NEPTUNE_RETURN_IF_ERROR(OnDevice([state = state_, entries, outcomes]() -> Status {
    for (LogEntry& entry : *entries) {
      if (!IsWrite(entry.kind)) {
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

// Finds log entries that the data contain durably and that no member needs.
void ReplicaAgent::FindDroppable() {
  const Lsn executed = executed_;
  if (!drop_wanted_.exchange(false) && executed < dropped_at_ + kDropInterval) return;
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
    const bool is_large = log_->size() > options_.log_size_max;
    const Lsn kept = flushed > options_.kept_count ? flushed - options_.kept_count : 0;
    const Lsn last = protocol_->LastDroppable(is_large ? flushed : kept, is_large, loop_.Now());
    if (last >= log_->first_lsn()) drop_before_ = last + 1;
    if (pump_) pump_->Wake();
  });
}

// Reads.

ReplicaAgent::State ReplicaAgent::status() const {
  LeafLock lock(&mutex_);
  State state = published_;
  state.executed = executed_;
  state.is_witness = options_.group.IsWitness(options_.group.self);
  state.snapshots_sent = snapshots_sent_;
  state.snapshots_taken = restore_count_;
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
  LeafLock lock(&mutex_);
  ReplicaReport report;
  if (is_write_anywhere()) return report;  // LSNs are local to each log
  report.version = executed_;
  report.epoch = published_.epoch;
  if (published_.primary) report.primary = NodeOf(*published_.primary);
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
  if (state_ == nullptr) return FailedPrecondition("a witness has no data");
  Read read;
  read.restore_count = restore_count_;
  const Lsn version = executed_;
  const State state = status();
  if (!state.failure.ok()) return Unavailable("the replica has failed");
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
  if (read.restore_count != restore_count_)
    return Unavailable("the data were replaced during the read");
  ReplicaReport report = Report();
  report.was_served = true;
  if (is_write_anywhere()) return report;
  report.version = std::max<Lsn>(executed_, executing_to_);
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
