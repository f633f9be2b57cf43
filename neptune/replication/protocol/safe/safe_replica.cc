#include "neptune/replication/protocol/safe/safe_replica.h"

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

bool IsUntouched(const MemberLog& log, const Election& election) {
  return log.last_lsn() == 0 && election.epoch() == 0;
}

// What answers report as committed: 0 from a member without data, which cannot lead.
Lsn CommittedInData(const ReplicaGroup& group, const MemberLog& log) {
  return group.IsWitness(group.self) ? 0 : log.committed();
}

// Fills in what an answer repeats of the append, and what it says of this member at the moment.
void Complete(const ReplicaMessage& append, Lsn committed, TimePoint now, ReplicaMessage& answer) {
  answer.primary_stamp = append.primary_stamp;
  answer.member_stamp = StampOf(now);
  answer.committed = committed;
}

}  // namespace

SafeReplica::SafeReplica(ReplicaGroup group, const SafeReplicaOptions& options,
                         const LogOutline& found, uint64_t incarnation, uint64_t seed,
                         TimePoint now)
    : group_(std::move(group)),
      options_(options),
      log_(found),
      outbox_(group_, incarnation),
      election_(group_, options_, log_, outbox_, store_time_,
                {.promise = found.promise, .seed = seed, .now = now}),
      rest_(options_, election_),
      recovery_(group_, 2 * options_.heartbeat_interval, now),
      leadership_(group_, options_, log_, outbox_, store_time_) {
  if (!election_.participates()) {
    role_ = IsUntouched(log_, election_) ? ReplicaRole::kBlank : ReplicaRole::kRecovering;
    if (role_ == ReplicaRole::kBlank && group_.size() == 1) TakePart(now);
  }
  if (election_.participates()) election_.Await(now);
}

void SafeReplica::Handle(ProtocolEvent event, TimePoint now) {
  std::visit(EventHandler{
                 [&](MessageReceived& received) {
                   auto* const message = std::get_if<ReplicaMessage>(&received.message);
                   if (message != nullptr) Receive(received.from, *message, now);
                 },
                 [&](TimePassed&) { PassTime(now); },
                 [&](MemberUnreachable& lost) {
                   if (!is_primary()) return;
                   leadership_.Wake(/*is_activity=*/false, now);
                   leadership_.NoteUnreachable(lost.member, now);
                 },
                 [&](ChangeStored& stored) { NoteStored(stored, now); },
                 [&](DataRestored& restored) { NoteRestored(restored.mark, now); },
                 [&](LogReplaced&) {},
                 [&](LogExtended&) {},
                 [&](RoomChanged& room) {
                   has_room_ = room.has_room;
                   election_.NoteRoom(room.has_room);
                   leadership_.NoteRoom(room.has_room);
                   if (!is_primary()) return;
                   leadership_.Wake(/*is_activity=*/false, now);
                   Lead(now);
                 },
                 [&](EntriesDropped& dropped) { log_.DropBefore(dropped.first); },
                 [&](PeerNews& news) {
                   rest_.NotePeer(news, primary_, now);
                   leadership_.NoteLive(rest_.live());
                   if (is_primary()) leadership_.Wake(/*is_activity=*/false, now);
                 },
                 [&](ReadWanted&) {
                   rest_.NoteReader(now);
                   if (is_primary()) leadership_.Wake(/*is_activity=*/true, now);
                 },
             },
             event);
}

// Messages.

void SafeReplica::Receive(MemberIndex from, ReplicaMessage& message, TimePoint now) {
  if (!outbox_.IsForThis(from, message)) return;
  election_.OnMessageFromMember();
  recovery_.OnMessageFromMember(now);
  const bool lets_rest = message.kind == ReplicaMessageKind::kAppendAnswer && message.yes &&
                         message.rests && message.epoch == election_.epoch();
  if (is_primary() && !lets_rest) leadership_.Wake(/*is_activity=*/false, now);
  if (is_primary()) leadership_.CountHoldUps(now);
  if (outbox_.Meet(from, message.from_incarnation)) leadership_.Forget(from, now);
  switch (message.kind) {
    case ReplicaMessageKind::kHello:
      HandleHello(from);
      break;
    case ReplicaMessageKind::kHelloAnswer:
      HandleHelloAnswer(from, message, now);
      break;
    case ReplicaMessageKind::kAppend:
      HandleAppend(from, message, now);
      break;
    case ReplicaMessageKind::kBehind:
      HandleBehind(from, message, now);
      break;
    case ReplicaMessageKind::kAppendAnswer:
      HandleAppendAnswer(from, message, now);
      break;
    case ReplicaMessageKind::kAskVote:
      HandleAskVote(from, message, now);
      break;
    case ReplicaMessageKind::kVote:
      HandleVote(from, message, now);
      break;
    case ReplicaMessageKind::kTakeOver:
      HandleTakeOver(from, message, now);
      break;
  }
  if (is_primary()) Lead(now);
}

void SafeReplica::HandleHello(MemberIndex from) {
  ReplicaMessage answer = outbox_.Make(ReplicaMessageKind::kHelloAnswer, from, election_.epoch());
  answer.yes = IsUntouched(log_, election_);
  answer.counts = election_.participates();
  outbox_.SendAfterStored(from, std::move(answer));
}

void SafeReplica::HandleHelloAnswer(MemberIndex from, const ReplicaMessage& message,
                                    TimePoint now) {
  if (election_.participates()) return;
  switch (recovery_.OnAnswer(from, message, role_ == ReplicaRole::kBlank)) {
    case Recovery::Finding::kNothing:
      break;
    case Recovery::Finding::kOthersAreOlder:
      role_ = ReplicaRole::kRecovering;
      break;
    case Recovery::Finding::kAllAreBlank:
      TakePart(now);
      break;
  }
}

bool SafeReplica::Follow(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (!election_.participates() && !recovery_.MayFollow(message)) return false;
  if (message.by_hand && message.last_lsn < log_.committed()) return false;
  if (message.epoch < election_.epoch()) {
    // Inform the sender of the larger epoch.
    outbox_.SendAfterStored(
        from, outbox_.Make(ReplicaMessageKind::kAppendAnswer, from, election_.epoch()));
    return false;
  }
  if (message.epoch > election_.epoch()) election_.Promise(message.epoch);
  // The epoch is larger than this primary's, since each epoch has one primary.
  if (is_primary()) BecomeSecondary(now);
  if (role_ == ReplicaRole::kCandidate) role_ = ReplicaRole::kSecondary;
  if (role_ == ReplicaRole::kBlank) role_ = ReplicaRole::kRecovering;
  primary_ = from;
  recovery_.OnMessageFromPrimary();
  election_.OnMessageFromPrimary(now);
  return true;
}

void SafeReplica::HandleAppend(MemberIndex from, ReplicaMessage& message, TimePoint now) {
  const std::optional<TimePoint> rest_end = rest_.EndIfLate(message);
  if (!Follow(from, message, now)) return;
  if (rest_end) election_.Rest(*rest_end);
  ReplicaMessage answer = outbox_.Make(ReplicaMessageKind::kAppendAnswer, from, election_.epoch());
  Complete(message, CommittedInData(group_, log_), now, answer);
  answer.lacks_room = !has_room_;
  const std::optional<MemberLog::Match> match = log_.Take(message);
  if (!match) return;
  answer.yes = match->fits;
  answer.matched = match->matched;
  const bool is_recovering = match->fits && !election_.participates();
  if (is_recovering && recovery_.HasCaughtUp(message, log_.last_lsn())) TakePart(now);
  answer.counts = election_.participates();
  answer.rests = rest_.IsAgreed(from, now);
  if (message.rests && answer.rests && answer.yes && !rest_end) rest_.Begin(message, now);
  const bool is_slow = store_time_.typical(now) > options_.heartbeat_interval;
  if (is_slow && answer.yes && log_.has_stored_promise()) return AnswerOnSlowDisk(from, answer);
  outbox_.SendAfterStored(from, std::move(answer));
}

// What is said at once is nothing that a crash could undo: no promise and no entry that is not
// stored.
void SafeReplica::AnswerOnSlowDisk(MemberIndex from, const ReplicaMessage& answer) {
  ReplicaMessage early = answer;
  if (answer.matched > log_.stored()) {
    early.last_lsn = std::exchange(early.matched, log_.stored());
    outbox_.SendAfterStored(from, answer);
  }
  outbox_.SendAtOnce(from, std::move(early));
}

void SafeReplica::HandleBehind(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (!Follow(from, message, now)) return;
  const bool has_it = log_.Covers({message.prev_lsn, message.prev_epoch});
  if (!has_it && !group_.IsWitness(group_.self)) return outbox_.RequestRestore(from);
  if (!has_it) {
    NoteRestored({.base = {message.prev_lsn, message.prev_epoch},
                  .write_set = message.write_set,
                  .log = std::nullopt},
                 now);
  }
  ReplicaMessage answer = outbox_.Make(ReplicaMessageKind::kAppendAnswer, from, election_.epoch());
  Complete(message, CommittedInData(group_, log_), now, answer);
  answer.lacks_room = !has_room_;
  answer.yes = true;
  answer.matched = std::max(message.prev_lsn, log_.base().lsn);
  answer.counts = election_.participates();
  outbox_.SendAfterStored(from, std::move(answer));
}

void SafeReplica::HandleAppendAnswer(MemberIndex from, const ReplicaMessage& message,
                                     TimePoint now) {
  if (!election_.participates() || message.epoch < election_.epoch()) return;
  if (message.epoch > election_.epoch()) {
    election_.Promise(message.epoch);
    return BecomeSecondary(now);
  }
  if (is_primary()) leadership_.Record(from, message, now);
}

void SafeReplica::HandleAskVote(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (!election_.participates()) return;
  bool is_granted = false;
  // A primary that asks for votes does not lead any longer.
  if (election_.rests() && from == primary_) election_.Await(now);
  const bool has_primary = rest_.IsUnder(primary_) && !message.hand_over;
  if (message.trial) {
    is_granted = !has_primary && election_.WouldGrant(message, is_primary(), now);
  } else {
    if (has_primary || !election_.MayVote(message, is_primary(), now)) return;
    if (message.epoch > election_.epoch()) {
      election_.Promise(message.epoch);
      BecomeSecondary(now);
    }
    is_granted = election_.Grant(from, message, is_primary(), now);
  }
  const Epoch epoch = is_granted ? message.epoch : election_.epoch();
  ReplicaMessage vote = outbox_.Make(ReplicaMessageKind::kVote, from, epoch);
  vote.trial = message.trial;
  vote.yes = is_granted;
  outbox_.SendAfterStored(from, std::move(vote));
}

void SafeReplica::HandleVote(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (!election_.participates()) return;
  if (!message.yes) {
    if (message.epoch <= election_.epoch()) return;
    election_.Promise(message.epoch);
    return BecomeSecondary(now);
  }
  if (role_ != ReplicaRole::kCandidate) return;
  const Election::Result result = election_.Count(from, message);
  if (result == Election::Result::kTrial) AskForVotes({.is_trial = false}, now);
  if (result == Election::Result::kElected) BecomePrimary(now);
}

void SafeReplica::HandleTakeOver(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (!election_.participates() || group_.IsWitness(group_.self)) return;
  if (!Follow(from, message, now) || message.last_lsn > log_.last_lsn()) return;
  AskForVotes({.is_trial = false, .is_hand_over = true}, now);
}

// Roles.

void SafeReplica::TakePart(TimePoint now) {
  election_.TakePart();
  role_ = ReplicaRole::kSecondary;
  election_.Await(now);
}

void SafeReplica::AskForVotes(const Election::Candidacy& candidacy, TimePoint now) {
  role_ = ReplicaRole::kCandidate;
  primary_.reset();
  recovery_.GreetAgain(now);
  const Election::Result result = election_.Ask(candidacy, now);
  if (result == Election::Result::kTrial) return AskForVotes({.is_trial = false}, now);
  if (result == Election::Result::kElected) BecomePrimary(now);
}

void SafeReplica::BecomeSecondary(TimePoint now) {
  if (!election_.participates()) return;
  role_ = ReplicaRole::kSecondary;
  primary_.reset();
  leadership_.End();
  election_.Await(now);
}

void SafeReplica::BecomePrimary(TimePoint now) {
  role_ = ReplicaRole::kPrimary;
  primary_ = group_.self;
  leadership_.Begin(election_.epoch(), election_.votes(), now);
  Lead(now);
}

void SafeReplica::Lead(TimePoint now) {
  switch (leadership_.Lead(now)) {
    case Leadership::Verdict::kContinue:
      break;
    case Leadership::Verdict::kStepDown:
      BecomeSecondary(now);
      break;
    case Leadership::Verdict::kReclaim:
      AskForVotes({.is_trial = false, .is_hand_over = true}, now);
      break;
  }
}

StatusOr<Lsn> SafeReplica::Propose(LogEntry write, TimePoint now) {
  if (!is_primary() || group_.IsWitness(group_.self)) {
    return FailedPrecondition("this replica is not the primary");
  }
  return leadership_.Propose(std::move(write), now);
}

Status SafeReplica::StartByHand(TimePoint now) {
  if (group_.IsWitness(group_.self)) return FailedPrecondition("a witness has no data");
  if (!election_.participates())
    return FailedPrecondition("the member has lost its promises and is still recovering");
  if (is_primary()) return FailedPrecondition("the member is the primary");
  if (rest_.IsUnder(primary_) || !election_.IsQuietFor(options_.by_hand_silence, now)) {
    return FailedPrecondition("this member started, or heard from a primary, too recently");
  }
  role_ = ReplicaRole::kCandidate;
  primary_.reset();
  election_.BeginByHand(recovery_.largest_epoch(), now);
  return OkStatus();
}

// Storage and time.

void SafeReplica::NoteRestored(const SnapshotMark& mark, TimePoint now) {
  const EpochStart& base = mark.base;
  const bool has_it = base.lsn <= log_.last_lsn() && log_.EpochAt(base.lsn) == base.epoch;
  if (has_it) return log_.Commit(base.lsn);
  if (base.lsn <= log_.committed()) return;
  log_.Restart(base, mark.write_set);
  if (is_primary()) BecomeSecondary(now);
}

ProtocolActions SafeReplica::DrainActions() {
  ProtocolActions actions = outbox_.Drain(log_);
  election_.NoteDrained(actions.change_number);
  return actions;
}

void SafeReplica::NoteStored(const ChangeStored& stored, TimePoint now) {
  if (is_primary()) leadership_.CountHoldUps(now);
  store_time_.Note(stored.took, now);
  log_.Stored(stored.number);
  if (election_.IsElectedByHand(stored.number) && !is_primary()) {
    leadership_.MarkByHand();
    BecomePrimary(now);
  }
  if (is_primary()) Lead(now);
}

void SafeReplica::PassTime(TimePoint now) {
  const bool has_primary = recovery_.has_heard_primary() || is_primary();
  if (recovery_.Greet(election_.participates() && has_primary, now)) {
    for (MemberIndex to = 0; to < group_.size(); ++to) {
      if (to == group_.self) continue;
      outbox_.SendAtOnce(to, outbox_.Make(ReplicaMessageKind::kHello, to, election_.epoch()));
    }
  }
  if (is_primary()) {
    leadership_.CountHoldUps(now);
    leadership_.HeartbeatIfDue(now);
    Lead(now);
  } else if (now >= election_.due_at()) {
    AskForVotes({.is_trial = true}, now);
  }
}

TimePoint SafeReplica::NextEvent() const {
  return std::min(recovery_.hello_at(),
                  is_primary() ? leadership_.NextEvent() : election_.due_at());
}

ReplicaStatus SafeReplica::status() const {
  return {.role = role_,
          .epoch = election_.epoch(),
          .primary = primary_,
          .write_set = log_.write_set(),
          .committed = log_.executable(),
          .last_lsn = log_.last_lsn(),
          .last_epoch = log_.last_epoch(),
          .leased_until = is_primary() ? leadership_.leased_until() : TimePoint::min(),
          .rests = is_primary() ? leadership_.rests() : rest_.IsUnder(primary_),
          .freshness = log_.freshness()};
}

std::optional<SnapshotMark> SafeReplica::MarkOf(Lsn last_write, Lsn) const {
  return log_.MarkOf(last_write);
}

Lsn SafeReplica::LastDroppable(Lsn wanted, LogPressure pressure, TimePoint now) {
  if (pressure == LogPressure::kFull || !is_primary()) return wanted;
  const bool by_all = pressure == LogPressure::kNone;
  const Lsn needed = by_all ? leadership_.needed_from() : leadership_.NeededByPresent(now);
  return std::min(wanted, needed - 1);
}

}  // namespace neptune
