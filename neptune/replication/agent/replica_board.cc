#include "neptune/replication/agent/replica_board.h"

#include <algorithm>

namespace neptune {
namespace {

// A primary remembers kVersionCountMax versions, one per interval.
constexpr Duration kVersionInterval = std::chrono::milliseconds(20);
constexpr size_t kVersionCountMax = 1024;

}  // namespace

// Returns the protocol's lease once the data contain everything that earlier primaries
// acknowledged, i.e. everything known to be committed when the lease was first held in this epoch.
TimePoint ReplicaBoard::LeasedUntil(const ReplicaStatus& standing, Lsn executed) {
  if (standing.leased_until == TimePoint::min()) return standing.leased_until;
  if (lease_epoch_ != standing.epoch) {
    lease_epoch_ = standing.epoch;
    lease_needs_ = standing.committed;
  }
  return executed >= lease_needs_ ? standing.leased_until : TimePoint::min();
}

bool ReplicaBoard::Publish(const ReplicaStatus& standing, const Progress& progress, TimePoint now) {
  LeafLock lock(&mutex_);
  const bool has_changed = published_.role != standing.role ||
                           published_.primary != standing.primary ||
                           published_.epoch != standing.epoch;
  static_cast<ReplicaStatus&>(published_) = standing;
  published_.leased_until = LeasedUntil(standing, progress.executed);
  published_.executed = progress.executed;
  published_.log_size = progress.log_size;
  const std::optional<ReplicaFreshness>& freshness = standing.freshness;
  if (freshness && progress.executed >= freshness->committed) {
    published_.current_as_of = std::max(published_.current_as_of, freshness->as_of);
  }
  const bool is_primary = published_.role == ReplicaRole::kPrimary;
  if (!is_primary) versions_.clear();
  if (is_primary && (versions_.empty() || now - versions_.back().first >= kVersionInterval)) {
    versions_.emplace_back(now, progress.executed);
    if (versions_.size() > kVersionCountMax) versions_.pop_front();
  }
  return has_changed;
}

void ReplicaBoard::NoteDamage(const Status& damage) {
  LeafLock lock(&mutex_);
  published_.damage = damage;
}

void ReplicaBoard::Fail(const Status& status) {
  LeafLock lock(&mutex_);
  published_.failure = status;
  published_.leased_until = TimePoint::min();
}

void ReplicaBoard::BeginRestore() {
  LeafLock lock(&mutex_);
  published_.is_restoring = true;
  published_.current_as_of = TimePoint::min();
}

void ReplicaBoard::BeginRepair(const Status& why) {
  LeafLock lock(&mutex_);
  published_.repair = why;
}

bool ReplicaBoard::IsRepairing() const {
  LeafLock lock(&mutex_);
  return !published_.repair.ok();
}

void ReplicaBoard::EndRestore() {
  LeafLock lock(&mutex_);
  published_.is_restoring = false;
}

void ReplicaBoard::NoteRestore(const Status& status) {
  LeafLock lock(&mutex_);
  published_.restore_failure = Annotate(status, "restoring another member's data");
}

ReplicaAgent::State ReplicaBoard::state() const {
  LeafLock lock(&mutex_);
  return published_;
}

ReplicaBoard::Leader ReplicaBoard::leader() const {
  LeafLock lock(&mutex_);
  return {published_.epoch, published_.primary};
}

Lsn ReplicaBoard::VersionAgo(Duration age, TimePoint now) const {
  LeafLock lock(&mutex_);
  Lsn version = 0;
  for (const auto& [at, had] : versions_) {
    if (at > now - age) break;
    version = had;
  }
  return version;
}

}  // namespace neptune
