// What a ReplicaAgent answers to readers, and what it reports of itself.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/replication/agent/replica_agent.h"
#include "neptune/replication/agent/replica_board.h"
#include "neptune/replication/agent/replica_data.h"
#include "neptune/replication/agent/replica_device.h"
#include "neptune/replication/agent/replica_restore.h"
#include "neptune/replication/agent/snapshot_sender.h"

namespace neptune {

uint64_t ReplicaAgent::restore_count() const { return data_->restore_count(); }
const ReplicatedState* ReplicaAgent::state() const { return data_->state(); }
const std::string& ReplicaAgent::read_path() const { return device_->path(ReplicaLane::kRead); }

ReplicaAgent::State ReplicaAgent::status() const {
  State state = board_->state();
  state.executed = data_->executed();
  state.readable_from = readable_from_;
  state.is_distrusted = data_->is_distrusted();
  state.is_witness = options_.group.IsWitness(options_.group.self);
  const SnapshotSender::Totals sent = sender_->totals();
  state.snapshots_sent = sent.finished;
  state.snapshot_size_sent = sent.size;
  state.snapshots_sending = sent.active;
  const ReplicaRestore::Progress taken = restore_->progress();
  state.snapshots_taken = taken.taken_count;
  state.snapshot_size_taken = taken.taken_size;
  state.restoring_since = taken.since;
  state.restored_chunk_count = taken.chunk_count;
  state.restored_size = taken.size;
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
  const State state = board_->state();
  if (stopping_ || !state.failure.ok()) return Unavailable("the replica has stopped");
  if (!state.repair.ok()) return Unavailable("the replica's data are being repaired");
  if (!data_->exists()) return FailedPrecondition("a witness has no data");
  if (data_->is_distrusted())
    return Unavailable("the replica has lost its log, and asks the others");
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
