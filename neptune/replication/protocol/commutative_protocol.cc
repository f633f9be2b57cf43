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

void CommutativeProtocol::Handle(ProtocolEvent event, TimePoint now) {
  std::visit(EventHandler{
                 [&](MessageReceived& received) {
                   auto* const message = std::get_if<CommutativeMessage>(&received.message);
                   if (message != nullptr) replica_.Step(received.from, std::move(*message), now);
                 },
                 [&](TimePassed&) { replica_.Tick(now); },
                 [&](MemberUnreachable&) {},
                 [&](ChangeStored& stored) { replica_.Stored(stored.number, now); },
                 [&](DataRestored& restored) {
                   if (!restored.mark.log) return replica_.EndRestore(now);
                   LogCopy& log = *restored.mark.log;
                   replica_.Restored(log.base, log.counts, std::move(log.entries), now);
                 },
                 [&](LogReplaced& replaced) {
                   LogCopy& log = replaced.log;
                   replica_.BeginLog(log.base, log.counts);
                   replica_.AddToLog(std::move(log.entries));
                 },
                 [&](LogExtended& extended) {
                   replica_.AddToLog(std::move(extended.entries));
                   if (extended.is_whole) replica_.NoteCounts(now);
                 },
                 [&](RoomChanged&) {},
                 [&](EntriesDropped& dropped) { replica_.Dropped(dropped.first); },
                 [&](PeerNews&) {},
                 [&](ReadWanted&) {},
             },
             event);
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

std::optional<SnapshotMark> CommutativeProtocol::MarkOf(Lsn last_write, Lsn log_base) const {
  if (!replica_.is_ready() || last_write < log_base) return std::nullopt;
  return SnapshotMark{
      .base = {last_write, 0},
      .write_set = MemberSet(),
      .log = LogCopy{.base = log_base, .counts = replica_.CountsAt(log_base), .entries = {}}};
}

Lsn CommutativeProtocol::LastDroppable(Lsn wanted, LogPressure, TimePoint now) {
  if (!replica_.is_ready()) return 0;
  const Lsn needed = replica_.needed_from();
  if (replica_.last_lsn() != noted_lsn_) {
    replica_.NoteCounts(now);
    noted_lsn_ = replica_.last_lsn();
  }
  return needed == 0 ? 0 : std::min(wanted, needed - 1);
}

ReplicaStatus CommutativeProtocol::status() const {
  ReplicaStatus status;
  status.role = replica_.is_ready() ? ReplicaRole::kPeer : ReplicaRole::kBlank;
  status.committed = replica_.executable();
  status.last_lsn = replica_.last_lsn();
  return status;
}

}  // namespace neptune
