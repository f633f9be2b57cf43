#include "neptune/replication/agent/replica_keeper.h"

#include <glog/logging.h>

#include <utility>

#include "neptune/base/strings.h"
#include "neptune/replication/agent/replica_device.h"
#include "neptune/thread/user_thread.h"

namespace neptune {
namespace {

constexpr Duration kClosePoll = std::chrono::milliseconds(2);
// Delay after a thread for reopening could not be started.
constexpr Duration kSpawnPause = std::chrono::seconds(1);

// True if an operator must act: retrying would not help.
bool IsRefusal(const Status& status) {
  return status.code() == StatusCode::kFailedPrecondition ||
         status.code() == StatusCode::kInvalidArgument;
}

}  // namespace

ReplicaKeeper::ReplicaKeeper(ReplicaAgentOptions options, ReplicaAgent::Hooks hooks)
    : options_(std::move(options)),
      hooks_(std::move(hooks)),
      loop_(*hooks_.control->loop),
      device_(std::make_unique<ReplicaDevice>(hooks_.capsules, options_.identity.service,
                                              options_.identity.partition, stopping_)) {
  hooks_.on_end = [this] { HandleEnd(); };
}

ReplicaKeeper::~ReplicaKeeper() = default;

std::string ReplicaKeeper::name() const {
  return StrCat(options_.identity.service, "/", options_.identity.partition);
}

Status ReplicaKeeper::Start() {
  const Status opened = Open();
  if (opened.ok() || stopping_) return opened;
  if (IsRefusal(opened)) {
    Close();
    return opened;
  }
  LOG(ERROR) << "replica of " << name() << " does not open: " << opened;
  NoteFailure(opened);
  SpawnReopening();
  return OkStatus();
}

void ReplicaKeeper::Stop() {
  stopping_ = true;
  if (owned_ != nullptr) owned_->Stop();
  if (reopening_) reopening_->Wake();
}

bool ReplicaKeeper::in_use() const {
  return is_reopening_ || (owned_ != nullptr && owned_->in_use());
}

Status ReplicaKeeper::Open() {
  owned_ = std::make_shared<ReplicaAgent>(options_, hooks_);
  NEPTUNE_RETURN_IF_ERROR(owned_->Start(next_opening_));
  if (stopping_) owned_->Stop();
  const bool found_damage = !owned_->status().repair.ok() && !next_opening_.data_are_damaged;
  next_opening_ = {};
  backoff_.NoteOpened(loop_.Now());
  LeafLock lock(&mutex_);
  agent_ = owned_;
  if (found_damage) ++health_.damage_count;
  health_.failure = OkStatus();
  health_.next_attempt = kNever;
  return OkStatus();
}

void ReplicaKeeper::HandleEnd() {
  if (stopping_ || is_reopening_) return;
  if (owned_->has_repaired()) {
    LOG(INFO) << "replica of " << name() << " has its data again";
    next_attempt_ = loop_.Now();
  } else {
    NoteFailure(owned_->status().failure);
  }
  SpawnReopening();
  if (hooks_.on_change) hooks_.on_change();
}

void ReplicaKeeper::NoteFailure(const Status& failure) {
  const bool is_damaged = owned_ != nullptr && owned_->data_are_damaged();
  const bool found_damage = is_damaged && !next_opening_.data_are_damaged;
  next_opening_.data_are_damaged |= is_damaged;
  next_opening_.proves_disk = true;
  next_attempt_ = backoff_.NextAfterFailure(loop_.random(), loop_.Now());
  const Status lost = owned_ == nullptr ? OkStatus() : owned_->status().damage;
  LeafLock lock(&mutex_);
  last_.damage = lost;
  health_.failure = failure;
  health_.failure_count = backoff_.failure_count();
  health_.next_attempt = next_attempt_;
  if (found_damage) ++health_.damage_count;
}

void ReplicaKeeper::SpawnReopening() {
  const auto started = hooks_.control->scheduler->Spawn([this] { Reopen(); }, "reopen");
  is_reopening_ = started.ok();
  if (is_reopening_) return;
  loop_.RunAt(loop_.Now() + kSpawnPause, [this] {
    if (!stopping_) SpawnReopening();
  });
}

void ReplicaKeeper::Reopen() {
  reopening_ = ThreadRef(UserThread::Current());
  bool is_open = false;
  while (!is_open && Close()) {
    AwaitAttempt();
    if (stopping_) break;
    const Status opened = Open();
    is_open = opened.ok();
    if (is_open || stopping_) break;
    LOG(WARNING) << "replica of " << name() << " does not open: " << opened;
    NoteFailure(opened);
  }
  reopening_ = ThreadRef();
  is_reopening_ = false;
  if (!is_open) return;
  LOG(INFO) << "replica of " << name() << " is open again";
  if (hooks_.on_change) hooks_.on_change();
  LeafLock lock(&mutex_);
  ++health_.reopen_count;
}

// False: the keeper stops.
bool ReplicaKeeper::Close() {
  if (owned_ == nullptr) return !stopping_;
  owned_->Stop();
  while (owned_->in_use()) {
    if (this_thread::SleepFor(kClosePoll) == ParkResult::kStopping) return false;
  }
  {
    LeafLock lock(&mutex_);
    if (agent_ != nullptr) last_ = agent_->status();
    agent_.reset();
  }
  const Status closed = device_->Run(ReplicaLane::kApply, [agent = owned_] {
    agent->CloseStores();
    return OkStatus();
  });
  if (!closed.ok()) return false;
  owned_.reset();
  return !stopping_;
}

void ReplicaKeeper::AwaitAttempt() {
  while (!stopping_ && loop_.Now() < next_attempt_) {
    if (this_thread::Park(next_attempt_) == ParkResult::kStopping) stopping_ = true;
  }
}

std::shared_ptr<ReplicaAgent> ReplicaKeeper::agent() const {
  LeafLock lock(&mutex_);
  return agent_;
}

StatusOr<std::shared_ptr<ReplicaAgent>> ReplicaKeeper::AgentNow() const {
  LeafLock lock(&mutex_);
  if (agent_ != nullptr) return agent_;
  return Unavailable("the replica of ", name(), " is not open: ", ToStd(health_.failure.message()));
}

ReplicaAgent::State ReplicaKeeper::status() const {
  const std::shared_ptr<ReplicaAgent> agent = this->agent();
  if (agent != nullptr) return agent->status();
  LeafLock lock(&mutex_);
  ReplicaAgent::State state = last_;
  state.failure = health_.failure;
  state.leased_until = TimePoint::min();
  state.snapshots_sending = 0;
  state.restoring_since.reset();
  state.is_witness = options_.group.IsWitness(options_.group.self);
  return state;
}

ReplicaKeeper::Health ReplicaKeeper::health() const {
  const ReplicaAgent::State state = status();
  LeafLock lock(&mutex_);
  Health health = health_;
  if (health.failure.ok()) health.failure = state.failure;
  if (health.failure.ok()) health.failure = Annotate(state.repair, "the data are being repaired");
  if (health.failure.ok() && state.is_distrusted) {
    health.failure = Unavailable("the log is forgotten, and the others are asked for it: ",
                                 ToStd(state.damage.message()));
  }
  if (health.failure.ok() && state.executed < state.readable_from) {
    health.failure = Unavailable("the log is executed again, from ", state.executed, " to ",
                                 state.readable_from);
  }
  if (health.failure.ok()) health.failure = use_;
  return health;
}

void ReplicaKeeper::NoteUse(const Status& use) {
  LeafLock lock(&mutex_);
  use_ = use;
}

void ReplicaKeeper::NoteScrub(const ScrubProgress& progress) {
  LeafLock lock(&mutex_);
  health_.scrub = progress;
}

void ReplicaKeeper::ReportDamage(const Status& damage) {
  const std::shared_ptr<ReplicaAgent> agent = this->agent();
  if (agent != nullptr) agent->ReportDamage(damage);
}

}  // namespace neptune
