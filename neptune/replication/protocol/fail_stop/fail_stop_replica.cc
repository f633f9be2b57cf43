#include "neptune/replication/protocol/fail_stop/fail_stop_replica.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {

FailStopReplica::FailStopReplica(ReplicaGroup group, const FailStopReplicaOptions& options,
                                 const LogOutline& found, uint64_t incarnation, TimePoint now)
    : group_(std::move(group)),
      options_(options),
      log_(found),
      outbox_(group_, incarnation),
      roster_(group_, options_.failure_timeout),
      work_(group_, options_, log_, outbox_, roster_),
      promise_(found.promise),
      announce_at_(now) {
  if (log_.last_lsn() == 0 && promise_ == HardState()) role_ = ReplicaRole::kBlank;
  is_forced_ = group_.size() == 1;
}

void FailStopReplica::Handle(ProtocolEvent event, TimePoint now) {
  std::visit(EventHandler{
                 [&](MessageReceived& received) {
                   auto* const message = std::get_if<ReplicaMessage>(&received.message);
                   if (message != nullptr) Receive(received.from, *message, now);
                 },
                 [&](TimePassed&) { PassTime(now); },
                 [&](MemberUnreachable&) {},
                 [&](ChangeStored& stored) {
                   log_.Stored(stored.number);
                   Serve(now);
                 },
                 [&](DataRestored& restored) {
                   const SnapshotMark& mark = restored.mark;
                   const bool is_old = mark.base.lsn <= log_.committed();
                   if (!is_old && role_ != ReplicaRole::kPrimary) {
                     log_.Restart(mark.base, mark.write_set);
                   }
                 },
                 [&](LogReplaced&) {},
                 [&](LogExtended&) {},
                 [&](RoomChanged&) {},
                 [&](EntriesDropped& dropped) { log_.DropBefore(dropped.first); },
                 [&](PeerNews&) {},
                 [&](ReadWanted&) {},
             },
             event);
}

// Messages.

void FailStopReplica::Receive(MemberIndex from, ReplicaMessage& message, TimePoint now) {
  if (!outbox_.IsForThis(from, message)) return;
  if (outbox_.Meet(from, message.from_incarnation)) {  // its previous incarnation has stopped
    roster_.Forget(from);
    work_.Forget(from);
    if (primary_ == from) primary_.reset();
    if (successor_ == from) successor_.reset();
  }
  roster_.Hear(from, message.epoch, now);
  switch (message.kind) {
    case ReplicaMessageKind::kHello:
      HandleHello(from, message, now);
      break;
    case ReplicaMessageKind::kAppend:
      HandleAppend(from, message, now);
      break;
    case ReplicaMessageKind::kAppendAnswer:
      HandleAppendAnswer(from, message, now);
      break;
    case ReplicaMessageKind::kBehind:
      HandleBehind(from, message, now);
      break;
    case ReplicaMessageKind::kAskVote:
      HandleAskVote(from, message, now);
      break;
    case ReplicaMessageKind::kVote:
      HandleVote(from, message, now);
      break;
    case ReplicaMessageKind::kTakeOver:
      HandleTakeOver(message, now);
      break;
    case ReplicaMessageKind::kHelloAnswer:
      break;
  }
  Serve(now);
}

void FailStopReplica::HandleHello(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  roster_.SetOperational(from, message.counts);
  if (message.trial) roster_.NoteBlank(from);
  if (message.epoch > promise_.epoch) {
    // The member rejects this epoch; a larger one must be elected first.
    if (role_ == ReplicaRole::kPrimary) StepDown();
    successor_.reset();
  }
  const bool is_preferred = from < group_.self && !group_.IsWitness(from);
  if (role_ == ReplicaRole::kPrimary && is_preferred) {
    StepDown();
    successor_ = from;
  }
  if (role_ == ReplicaRole::kBlank && roster_.AllAreBlank()) {
    Promise(roster_.NextEpoch(promise_.epoch), group_.self);
    promise_.is_founded = true;
    log_.Promise(promise_);
    is_operational_ = true;
    role_ = ReplicaRole::kSecondary;
    LookForPrimary(now);
  }
}

bool FailStopReplica::Follow(MemberIndex from, const ReplicaMessage& message) {
  if (message.epoch < promise_.epoch) return false;
  if (message.epoch > promise_.epoch) Promise(message.epoch, std::nullopt);
  if (role_ == ReplicaRole::kPrimary || role_ == ReplicaRole::kCandidate) StepDown();
  if (role_ == ReplicaRole::kBlank) role_ = ReplicaRole::kRecovering;
  successor_.reset();
  primary_ = from;
  return true;
}

void FailStopReplica::HandleAppend(MemberIndex from, ReplicaMessage& message, TimePoint now) {
  if (!Follow(from, message)) return;
  ReplicaMessage answer = outbox_.Make(ReplicaMessageKind::kAppendAnswer, from, promise_.epoch);
  answer.member_stamp = StampOf(now);
  const std::optional<MemberLog::Match> match = log_.Take(message);
  if (!match) return;
  answer.yes = match->fits;
  answer.matched = match->matched;
  if (match->fits) {
    // Phase 3: this member has the entry that added it to the write set, or it was removed from it.
    is_operational_ =
        message.matched != 0 && (is_operational_ || answer.matched >= message.matched);
    role_ = is_operational_ ? ReplicaRole::kSecondary : ReplicaRole::kRecovering;
  }
  answer.committed = log_.committed();
  outbox_.SendAfterStored(from, std::move(answer));
}

void FailStopReplica::HandleBehind(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (!Follow(from, message)) return;
  if (!log_.Covers({message.prev_lsn, message.prev_epoch})) return outbox_.RequestRestore(from);
  ReplicaMessage answer = outbox_.Make(ReplicaMessageKind::kAppendAnswer, from, promise_.epoch);
  answer.member_stamp = StampOf(now);
  answer.committed = log_.committed();
  answer.yes = true;
  answer.matched = std::max(message.prev_lsn, log_.base().lsn);
  outbox_.SendAfterStored(from, std::move(answer));
}

void FailStopReplica::HandleAppendAnswer(MemberIndex from, const ReplicaMessage& message,
                                         TimePoint now) {
  const bool is_serving = role_ == ReplicaRole::kPrimary || successor_ == from;
  if (is_serving && message.epoch == promise_.epoch) work_.Record(from, message, now);
}

void FailStopReplica::Announce(TimePoint now) {
  announce_at_ = now + options_.announcement_interval;
  work_.OweAll();
  for (MemberIndex to = 0; to < group_.size(); ++to) {
    if (to == group_.self) continue;
    ReplicaMessage hello = outbox_.Make(ReplicaMessageKind::kHello, to, promise_.epoch);
    hello.last_lsn = log_.last_lsn();
    hello.committed = log_.committed();
    hello.trial = role_ == ReplicaRole::kBlank;
    hello.counts = is_operational_;
    hello.yes = role_ == ReplicaRole::kPrimary;
    outbox_.SendAtOnce(to, std::move(hello));
  }
}

// Starting and electing.

void FailStopReplica::Promise(Epoch epoch, std::optional<MemberIndex> voted_for) {
  promise_.epoch = epoch;
  promise_.voted_for = voted_for;
  log_.Promise(promise_);
}

void FailStopReplica::LookForPrimary(TimePoint now) {
  if (is_forced_) {
    const bool has_primary = primary_ && roster_.lives(*primary_, now);
    if (!has_primary && role_ != ReplicaRole::kPrimary) {
      promise_.is_founded = true;
      is_operational_ = true;
      Promise(roster_.NextEpoch(promise_.epoch), group_.self);
      BecomePrimary(now);
    }
    is_forced_ = false;
    return;
  }
  if (successor_ && !roster_.lives(*successor_, now)) successor_.reset();
  if (!is_operational_ || successor_ || role_ == ReplicaRole::kPrimary) return;
  if (primary_ && roster_.lives(*primary_, now)) return;
  if (role_ == ReplicaRole::kCandidate && now < election_at_) return;
  if (roster_.IsPreferred(now)) AskForVotes(/*hand_over=*/false, now);
}

void FailStopReplica::AskForVotes(bool hand_over, TimePoint now) {
  role_ = ReplicaRole::kCandidate;
  primary_.reset();
  is_bullying_ = hand_over;
  votes_ = MemberSet().With(group_.self);
  election_at_ = now + options_.election_retry;
  Promise(roster_.NextEpoch(promise_.epoch), group_.self);
  for (MemberIndex to = 0; to < group_.size(); ++to) {
    if (to == group_.self || !roster_.lives(to, now)) continue;
    ReplicaMessage ask = outbox_.Make(ReplicaMessageKind::kAskVote, to, promise_.epoch);
    ask.hand_over = hand_over;
    ask.last_lsn = log_.last_lsn();
    outbox_.SendAfterStored(to, std::move(ask));
  }
  CountVotes(now);
}

void FailStopReplica::HandleAskVote(MemberIndex from, const ReplicaMessage& message,
                                    TimePoint now) {
  const bool has_primary = primary_ && primary_ != from && roster_.lives(*primary_, now);
  const bool is_better = is_operational_ && group_.self < from && !group_.IsWitness(group_.self);
  const bool is_possible = message.epoch > promise_.epoch && message.last_lsn >= log_.committed() &&
                           role_ != ReplicaRole::kPrimary;
  ReplicaMessage vote = outbox_.Make(ReplicaMessageKind::kVote, from, promise_.epoch);
  vote.yes = is_possible && (message.hand_over || (!has_primary && !is_better));
  if (!vote.yes && is_better && primary_ == from) primary_.reset();
  if (vote.yes) {
    Promise(message.epoch, from);
    primary_.reset();
    vote.epoch = promise_.epoch;
    vote.counts = is_operational_;
    if (role_ == ReplicaRole::kCandidate) StepDown();
    // Leave the candidate enough time to win.
    look_at_ = now + options_.election_retry;
  }
  outbox_.SendAfterStored(from, std::move(vote));
}

void FailStopReplica::HandleVote(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (role_ != ReplicaRole::kCandidate) return;
  if (message.yes && message.epoch == promise_.epoch) {
    votes_ = votes_.With(from);
    roster_.SetOperational(from, message.counts);
    CountVotes(now);
  } else if (!message.yes) {
    StepDown();
    look_at_ = now + options_.election_retry;
  }
}

void FailStopReplica::CountVotes(TimePoint now) {
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (roster_.lives(member, now) && !votes_.contains(member)) return;
  }
  BecomePrimary(now);
}

void FailStopReplica::BecomePrimary(TimePoint now) {
  role_ = ReplicaRole::kPrimary;
  primary_ = group_.self;
  successor_.reset();
  is_operational_ = true;
  work_.Begin(promise_.epoch, now);
  Serve(now);
}

void FailStopReplica::StepDown() {
  role_ = is_operational_ ? ReplicaRole::kSecondary : ReplicaRole::kRecovering;
  if (primary_ == group_.self) primary_.reset();
  successor_.reset();
}

void FailStopReplica::HandleTakeOver(const ReplicaMessage& message, TimePoint now) {
  const bool has_everything =
      message.epoch == promise_.epoch && message.last_lsn == log_.last_lsn();
  if (!has_everything || role_ == ReplicaRole::kPrimary) return;
  if (role_ == ReplicaRole::kCandidate && now < election_at_) return;
  AskForVotes(/*hand_over=*/true, now);
}

// Primary, also while handing over.

StatusOr<Lsn> FailStopReplica::Propose(LogEntry write, TimePoint now) {
  if (successor_) return Unavailable("a preferred replica is about to become the primary");
  if (role_ != ReplicaRole::kPrimary) return FailedPrecondition("this replica is not the primary");
  NEPTUNE_RETURN_IF_ERROR(work_.Append(std::move(write), promise_.epoch));
  Serve(now);
  return log_.last_lsn();
}

void FailStopReplica::Serve(TimePoint now) {
  if (role_ == ReplicaRole::kPrimary) {
    work_.Serve(promise_.epoch, now);
  } else if (successor_) {
    work_.HandOver(*successor_, promise_.epoch, now);
  }
}

// Time and storage.

void FailStopReplica::PassTime(TimePoint now) {
  if (now >= announce_at_) Announce(now);
  if (role_ == ReplicaRole::kCandidate) CountVotes(now);
  if (role_ == ReplicaRole::kCandidate && is_bullying_ && now >= election_at_) StepDown();
  if (look_at_ == kNever || now >= look_at_) {
    look_at_ = kNever;
    LookForPrimary(now);
  }
  Serve(now);
}

TimePoint FailStopReplica::NextEvent() const {
  TimePoint next = std::min(announce_at_, look_at_);
  if (role_ == ReplicaRole::kCandidate) next = std::min(next, election_at_);
  return next;
}

ReplicaStatus FailStopReplica::status() const {
  const bool is_leased = role_ == ReplicaRole::kPrimary && work_.is_leased();
  return {.role = role_,
          .epoch = promise_.epoch,
          .primary = primary_,
          .write_set = log_.write_set(),
          .committed = log_.executable(),
          .last_lsn = log_.last_lsn(),
          .last_epoch = log_.last_epoch(),
          .leased_until = is_leased ? kNever : TimePoint::min(),
          .freshness = log_.freshness()};
}

Lsn FailStopReplica::LastDroppable(Lsn wanted, LogPressure pressure, TimePoint) {
  if (pressure != LogPressure::kNone || role_ != ReplicaRole::kPrimary) return wanted;
  return std::min(wanted, work_.needed_from() - 1);
}

}  // namespace neptune
