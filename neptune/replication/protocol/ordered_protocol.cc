#include "neptune/replication/protocol/ordered_protocol.h"

#include <algorithm>

namespace neptune {
namespace {

std::vector<OutgoingMessage> Addressed(std::vector<OutgoingReplicaMessage> messages) {
  std::vector<OutgoingMessage> outgoing;
  outgoing.reserve(messages.size());
  for (OutgoingReplicaMessage& message : messages) {
    const LogRun entries = {message.message.prev_lsn + 1, message.entries_to};
    outgoing.push_back({.to = message.to, .message = std::move(message.message), .entries = {}});
    if (entries.first <= entries.last) outgoing.back().entries.push_back(entries);
  }
  return outgoing;
}

}  // namespace

void OrderedProtocol::Step(MemberIndex from, ProtocolMessage message, TimePoint now) {
  auto* const ordered = std::get_if<ReplicaMessage>(&message);
  if (ordered != nullptr) protocol_->Step(from, std::move(*ordered), now);
}

StatusOr<Lsn> OrderedProtocol::Propose(LogEntry write, TimePoint now) {
  return protocol_->Propose(std::move(write), now);
}

void OrderedProtocol::Unreachable(MemberIndex member, TimePoint now) {
  protocol_->Unreachable(member, now);
}

ProtocolActions OrderedProtocol::DrainActions() {
  ReplicaActions actions = protocol_->DrainActions();
  return {.change_number = actions.change_number,
          .change = std::move(actions.change),
          .at_once = Addressed(std::move(actions.at_once)),
          .after_stored = Addressed(std::move(actions.after_stored)),
          .restore_from = actions.restore_from};
}

void OrderedProtocol::Stored(uint64_t change_number, TimePoint now) {
  protocol_->Stored(change_number, now);
}

bool OrderedProtocol::Complete(Lsn, ReplicaSnapshot* snapshot) const {
  const std::optional<Epoch> epoch = protocol_->EpochAt(snapshot->base.lsn);
  if (!epoch) return false;
  snapshot->base.epoch = *epoch;
  snapshot->write_set = protocol_->WriteSetAt(snapshot->base.lsn);
  return true;
}

void OrderedProtocol::Restored(ReplicaSnapshot snapshot, TimePoint now) {
  protocol_->Restored(snapshot.base, snapshot.write_set, now);
}

Lsn OrderedProtocol::LastDroppable(Lsn wanted, bool is_large, TimePoint) {
  const Lsn needed = protocol_->needed_from();
  return is_large || needed == 0 ? wanted : std::min(wanted, needed - 1);
}

ReplicaStatus OrderedProtocol::status() const {
  return {.role = protocol_->role(),
          .epoch = protocol_->epoch(),
          .primary = protocol_->primary(),
          .write_set = protocol_->write_set(),
          .committed = protocol_->committed(),
          .last_lsn = protocol_->last_lsn(),
          .last_epoch = protocol_->EpochAt(protocol_->last_lsn()).value_or(0),
          .leased_until = protocol_->leased_until()};
}

}  // namespace neptune
