#include "neptune/replication/protocol/commutative_protocol.h"

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

// Converts ascending LSNs into runs.
std::deque<LogRun> RunsOf(const std::vector<Lsn>& places) {
  std::deque<LogRun> runs;
  for (const Lsn place : places) {
    if (runs.empty() || runs.back().last + 1 != place) {
      runs.push_back({place, place});
    } else {
      runs.back().last = place;
    }
  }
  return runs;
}

}  // namespace

CommutativeProtocol::CommutativeProtocol(ReplicaGroup group, const LogOutline& found,
                                         OriginIndex index, uint64_t incarnation, TimePoint now)
    : replica_(std::move(group), CommutativeReplicaOptions(), found, std::move(index), incarnation,
               now) {}

void CommutativeProtocol::Step(MemberIndex from, ProtocolMessage message, TimePoint now) {
  auto* const commutative = std::get_if<CommutativeMessage>(&message);
  if (commutative != nullptr) replica_.Step(from, std::move(*commutative), now);
}

StatusOr<Lsn> CommutativeProtocol::Propose(LogEntry write, TimePoint now) {
  return replica_.Propose(std::move(write), now);
}

Status CommutativeProtocol::StartByHand(TimePoint) {
  return FailedPrecondition(
      "level write_anywhere elects no primary: a replica continues when one "
      "that has all writes, or every replica, is back");
}

// Messages contain only what is already stored, so none of them waits for the change.
ProtocolActions CommutativeProtocol::DrainActions() {
  CommutativeActions taken = replica_.DrainActions();
  ProtocolActions actions;
  actions.change_number = taken.change_number;
  actions.change = std::move(taken.change);
  actions.restore_from = taken.restore_from;
  for (OutgoingCommutativeMessage& outgoing : taken.at_once) {
    actions.at_once.push_back({.to = outgoing.to,
                               .message = std::move(outgoing.message),
                               .entries = RunsOf(outgoing.entries),
                               .is_repeated = true});
  }
  return actions;
}

void CommutativeProtocol::Stored(uint64_t change_number, TimePoint now) {
  replica_.Stored(change_number, now);
}

bool CommutativeProtocol::Complete(Lsn log_base, ReplicaSnapshot* snapshot) const {
  if (!replica_.is_ready() || snapshot->base.lsn < log_base) return false;
  snapshot->log = LogCopy{.base = log_base, .counts = replica_.CountsAt(log_base), .entries = {}};
  return true;
}

void CommutativeProtocol::Restored(ReplicaSnapshot snapshot, TimePoint now) {
  if (!snapshot.log) return;
  replica_.Restored(snapshot.log->base, snapshot.log->counts, std::move(snapshot.log->entries),
                    now);
}

Lsn CommutativeProtocol::LastDroppable(Lsn wanted, bool, TimePoint now) {
  if (!replica_.is_ready()) return 0;
  const Lsn needed = replica_.needed_from();
  if (replica_.last_lsn() != noted_lsn_) {
    replica_.NoteCounts(now);
    noted_lsn_ = replica_.last_lsn();
  }
  return needed == 0 ? 0 : std::min(wanted, needed - 1);
}

ReplicaStatus CommutativeProtocol::status() const {
  return {.role = replica_.is_ready() ? ReplicaRole::kPeer : ReplicaRole::kBlank,
          .epoch = 0,
          .primary = std::nullopt,
          .write_set = MemberSet(),
          .committed = replica_.executable(),
          .last_lsn = replica_.last_lsn(),
          .last_epoch = 0,
          .leased_until = TimePoint::min()};
}

}  // namespace neptune
