#include "neptune/replication/protocol/replica_outbox.h"

#include <utility>

namespace neptune {

bool ReplicaOutbox::IsForThis(MemberIndex from, const ReplicaMessage& message) const {
  if (from >= group_.size() || from == group_.self || message.from_incarnation == 0) return false;
  return message.kind == ReplicaMessageKind::kHello || message.to_incarnation == incarnation_;
}

bool ReplicaOutbox::Meet(MemberIndex from, uint64_t incarnation) {
  return std::exchange(peers_[from], incarnation) != incarnation;
}

ReplicaMessage ReplicaOutbox::Make(ReplicaMessageKind kind, MemberIndex to, Epoch epoch) const {
  ReplicaMessage message;
  message.kind = kind;
  message.from_incarnation = incarnation_;
  message.to_incarnation = peers_[to];
  message.epoch = epoch;
  return message;
}

void ReplicaOutbox::SendAtOnce(MemberIndex to, ReplicaMessage message, Lsn entries_to) {
  const LogRun entries = {message.prev_lsn + 1, entries_to};
  actions_.at_once.push_back({.to = to, .message = std::move(message), .entries = {}});
  if (entries.first <= entries.last) actions_.at_once.back().entries.push_back(entries);
}

void ReplicaOutbox::SendAfterStored(MemberIndex to, ReplicaMessage message) {
  actions_.after_stored.push_back({.to = to, .message = std::move(message), .entries = {}});
}

ProtocolActions ReplicaOutbox::Drain(MemberLog& log) {
  ProtocolActions taken = std::exchange(actions_, {});
  MemberLog::NumberedChange change = log.NextChange();
  taken.change_number = change.number;
  taken.change = std::move(change.change);
  return taken;
}

}  // namespace neptune
