#include "neptune/replication/protocol/safe_replica.h"

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

// No member can have promised an epoch this far above the ones known here.
constexpr Epoch kByHandEpochStep = Epoch{1} << 20;

uint64_t NextState(uint64_t state) {  // splitmix64
  state += 0x9e3779b97f4a7c15u;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

}  // namespace

SafeReplica::SafeReplica(ReplicaGroup group, const SafeReplicaOptions& options,
                         const LogOutline& found, uint64_t incarnation, uint64_t seed,
                         TimePoint now)
    : group_(std::move(group)),
      options_(options),
      incarnation_(incarnation),
      random_state_(seed),
      promise_(found.promise),
      log_(found),
      peers_(group_.members.size()),
      heard_primary_at_(now) {
  if (!participates()) {
    role_ = is_untouched() ? ReplicaRole::kBlank : ReplicaRole::kRecovering;
    if (role_ == ReplicaRole::kBlank && group_.size() == 1) Found(now);
  }
  if (participates()) AwaitElection(now, options_.election_timeout);
  if (group_.size() > 1) hello_at_ = now;
}

// Messages.

void SafeReplica::Step(MemberIndex from, ReplicaMessage message, TimePoint now) {
  if (from >= group_.size() || from == group_.self || message.from_incarnation == 0) return;
  const bool is_hello = message.kind == ReplicaMessageKind::kHello;
  if (!is_hello && message.to_incarnation != incarnation_) return;
  if (role_ == ReplicaRole::kPrimary) CountHoldUps(now);
  Peer& peer = peers_[from];
  if (peer.incarnation != message.from_incarnation) {
    peer = Peer{.incarnation = message.from_incarnation,
                .next = log_.last_lsn() + 1,
                .resend_at = now,
                .heard_at = now,
                .in_set_since = now};
  }
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
  if (role_ == ReplicaRole::kPrimary) Lead(now);
}

void SafeReplica::HandleHello(MemberIndex from) {
  ReplicaMessage answer = Make(ReplicaMessageKind::kHelloAnswer, from);
  answer.yes = is_untouched();
  answer.counts = participates();
  SendAfterStored(from, std::move(answer));
}

void SafeReplica::HandleHelloAnswer(MemberIndex from, const ReplicaMessage& message,
                                    TimePoint now) {
  if (participates()) return;
  if (message.counts) {
    answered_ = answered_.With(from);
    recover_epoch_ = std::max(recover_epoch_, message.epoch);
  }
  if (role_ != ReplicaRole::kBlank) return;
  if (!message.yes) {
    role_ = ReplicaRole::kRecovering;
    return;
  }
  blank_ = blank_.With(from);
  if (blank_.With(group_.self) == MemberSet::FirstOf(group_.size())) Found(now);
}

bool SafeReplica::Follow(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  const bool knows_promises = answered_.size() >= group_.majority() || message.by_hand;
  if (!participates() && (!knows_promises || message.epoch < recover_epoch_)) return false;
  if (message.by_hand && message.last_lsn < log_.committed()) return false;
  if (message.epoch < promise_.epoch) {
    // Inform the sender of the larger epoch.
    SendAfterStored(from, Make(ReplicaMessageKind::kAppendAnswer, from));
    return false;
  }
  if (message.epoch > promise_.epoch) Promise(message.epoch, std::nullopt);
  if (role_ == ReplicaRole::kPrimary && primary_ == group_.self) {
    BecomeSecondary(now);  // the epoch is larger, since each epoch has one primary
  }
  if (role_ == ReplicaRole::kCandidate) role_ = ReplicaRole::kSecondary;
  if (role_ == ReplicaRole::kBlank) role_ = ReplicaRole::kRecovering;
  primary_ = from;
  heard_primary_at_ = now;
  has_heard_primary_ = true;
  AwaitElection(now, options_.election_timeout);
  return true;
}

ReplicaMessage SafeReplica::AnswerTo(MemberIndex from, const ReplicaMessage& append,
                                     TimePoint now) const {
  ReplicaMessage answer = Make(ReplicaMessageKind::kAppendAnswer, from);
  answer.primary_stamp = append.primary_stamp;
  answer.member_stamp = StampOf(now);
  answer.committed = log_.committed();
  return answer;
}

void SafeReplica::HandleAppend(MemberIndex from, ReplicaMessage& message, TimePoint now) {
  if (!Follow(from, message, now)) return;
  ReplicaMessage answer = AnswerTo(from, message, now);
  const std::optional<MemberLog::Match> match = log_.Take(message);
  if (!match) return;
  answer.yes = match->fits;
  answer.matched = match->matched;
  if (match->fits) LookWhetherRecovered(message, now);
  answer.counts = participates();
  SendAfterStored(from, std::move(answer));
}

void SafeReplica::HandleBehind(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (!Follow(from, message, now)) return;
  const bool has_it =
      message.prev_lsn <= log_.last_lsn() &&
      (message.prev_lsn < log_.base().lsn || log_.EpochAt(message.prev_lsn) == message.prev_epoch);
  if (!has_it && !group_.IsWitness(group_.self)) {
    actions_.restore_from = from;
    return;
  }
  if (!has_it) Restored({message.prev_lsn, message.prev_epoch}, message.write_set, now);
  ReplicaMessage answer = AnswerTo(from, message, now);
  answer.yes = true;
  answer.matched = std::max(message.prev_lsn, log_.base().lsn);
  answer.counts = participates();
  SendAfterStored(from, std::move(answer));
}

ReplicaMessage SafeReplica::Make(ReplicaMessageKind kind, MemberIndex to) const {
  ReplicaMessage message;
  message.kind = kind;
  message.from_incarnation = incarnation_;
  message.to_incarnation = peers_[to].incarnation;
  message.epoch = promise_.epoch;
  return message;
}

void SafeReplica::SendAtOnce(MemberIndex to, ReplicaMessage message, Lsn entries_to) {
  actions_.at_once.push_back({to, std::move(message), entries_to});
}

void SafeReplica::SendAfterStored(MemberIndex to, ReplicaMessage message) {
  actions_.after_stored.push_back({to, std::move(message), 0});
}

// Starting and recovering.

void SafeReplica::SayHello(TimePoint now) {
  const bool is_known = participates() && (has_heard_primary_ || role_ == ReplicaRole::kPrimary);
  hello_at_ = is_known ? kNever : now + 2 * options_.heartbeat_interval;
  if (is_known) return;
  for (MemberIndex to = 0; to < group_.size(); ++to) {
    if (to != group_.self) SendAtOnce(to, Make(ReplicaMessageKind::kHello, to));
  }
}

void SafeReplica::Found(TimePoint now) {
  promise_.is_founded = true;
  log_.Promise(promise_);
  role_ = ReplicaRole::kSecondary;
  AwaitElection(now, options_.election_timeout);
}

void SafeReplica::LookWhetherRecovered(const ReplicaMessage& append, TimePoint now) {
  if (participates()) return;
  if (!recover_to_ || recovering_from_ != append.epoch) {
    recovering_from_ = append.epoch;
    recover_to_ = append.last_lsn;
  }
  if (log_.last_lsn() >= *recover_to_) Found(now);
}

// Elections.

Duration SafeReplica::RandomUpTo(Duration most) {
  random_state_ += 0x9e3779b97f4a7c15u;
  return Duration(static_cast<int64_t>(NextState(random_state_) %
                                       static_cast<uint64_t>(std::max<int64_t>(1, most.count()))));
}

void SafeReplica::AwaitElection(TimePoint now, Duration silence) {
  if (!participates()) return;
  const int rank = group_.IsWitness(group_.self) ? group_.size() : group_.self;
  election_at_ =
      now + silence + rank * options_.election_step + RandomUpTo(options_.election_spread);
}

bool SafeReplica::HasNothingNewerThan(const ReplicaMessage& ask) const {
  const Epoch last_epoch = log_.last_epoch();
  return ask.prev_epoch != last_epoch ? ask.prev_epoch > last_epoch
                                      : ask.prev_lsn >= log_.last_lsn();
}

bool SafeReplica::MayVote(const ReplicaMessage& ask, TimePoint now) const {
  if (ask.hand_over) return true;
  return role_ != ReplicaRole::kPrimary && now - heard_primary_at_ >= options_.election_timeout;
}

void SafeReplica::HandleAskVote(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (!participates()) return;
  ReplicaMessage vote = Make(ReplicaMessageKind::kVote, from);
  vote.trial = message.trial;
  if (message.trial) {
    vote.yes =
        message.epoch > promise_.epoch && MayVote(message, now) && HasNothingNewerThan(message);
    if (vote.yes) vote.epoch = message.epoch;
    SendAfterStored(from, std::move(vote));
    return;
  }
  if (!MayVote(message, now)) return;
  if (message.epoch > promise_.epoch) {
    Promise(message.epoch, std::nullopt);
    BecomeSecondary(now);
    vote.epoch = promise_.epoch;
  }
  vote.yes = message.epoch == promise_.epoch && promise_.voted_for.value_or(from) == from &&
             role_ != ReplicaRole::kPrimary && HasNothingNewerThan(message);
  if (vote.yes) {
    if (!promise_.voted_for) Promise(promise_.epoch, from);
    AwaitElection(now, options_.election_timeout);
  }
  SendAfterStored(from, std::move(vote));
}

void SafeReplica::HandleVote(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (!participates()) return;
  if (!message.yes) {
    if (message.epoch <= promise_.epoch) return;
    Promise(message.epoch, std::nullopt);
    BecomeSecondary(now);
    return;
  }
  const Epoch asked = is_trial_ ? promise_.epoch + 1 : promise_.epoch;
  if (role_ != ReplicaRole::kCandidate || message.trial != is_trial_ || message.epoch != asked)
    return;
  votes_ = votes_.With(from);
  CountVotes(now);
}

void SafeReplica::HandleTakeOver(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (!participates() || group_.IsWitness(group_.self) || !Follow(from, message, now)) return;
  if (message.last_lsn <= log_.last_lsn()) AskForVotes(/*trial=*/false, /*hand_over=*/true, now);
}

void SafeReplica::AskForVotes(bool trial, bool hand_over, TimePoint now) {
  role_ = ReplicaRole::kCandidate;
  primary_.reset();
  // Others may have restarted, and drop messages that are addressed to their previous incarnation.
  has_heard_primary_ = false;
  hello_at_ = std::min(hello_at_, now);
  is_trial_ = trial;
  votes_ = MemberSet().With(group_.self);
  if (!trial) Promise(promise_.epoch + 1, group_.self);
  AwaitElection(now, options_.election_step);
  for (MemberIndex to = 0; to < group_.size(); ++to) {
    if (to == group_.self || peers_[to].incarnation == 0) continue;
    ReplicaMessage ask = Make(ReplicaMessageKind::kAskVote, to);
    if (trial) ++ask.epoch;
    ask.trial = trial;
    ask.hand_over = hand_over;
    ask.prev_lsn = log_.last_lsn();
    ask.prev_epoch = log_.last_epoch();
    SendAfterStored(to, std::move(ask));
  }
  CountVotes(now);
}

void SafeReplica::CountVotes(TimePoint now) {
  if (votes_.size() < group_.majority()) return;
  if (is_trial_) {
    AskForVotes(/*trial=*/false, /*hand_over=*/false, now);
  } else {
    BecomePrimary(now);
  }
}

Status SafeReplica::StartByHand(TimePoint now) {
  if (group_.IsWitness(group_.self)) return FailedPrecondition("a witness has no data");
  if (!participates())
    return FailedPrecondition("the member has lost its promises and is still recovering");
  if (role_ == ReplicaRole::kPrimary) return FailedPrecondition("the member is the primary");
  if (now - heard_primary_at_ < options_.by_hand_silence) {
    return FailedPrecondition("this member started, or heard from a primary, too recently");
  }
  Promise(std::max(promise_.epoch, recover_epoch_) + kByHandEpochStep, group_.self);
  role_ = ReplicaRole::kCandidate;
  primary_.reset();
  by_hand_epoch_ = promise_.epoch;
  by_hand_change_.reset();
  AwaitElection(now, options_.election_timeout);
  return OkStatus();
}

// Called once the promise is stored, so the epoch cannot be used by another primary, or again.
void SafeReplica::BeginByHand(TimePoint now) {
  const bool is_overtaken = promise_.epoch != by_hand_epoch_ || promise_.voted_for != group_.self;
  by_hand_epoch_ = 0;
  if (is_overtaken || role_ == ReplicaRole::kPrimary) return;
  votes_ = MemberSet().With(group_.self);
  for (const bool heard : {true, false}) {
    for (MemberIndex member = 0; member < group_.size(); ++member) {
      const bool is_heard = peers_[member].incarnation != 0;
      if (votes_.size() < group_.majority() && heard == is_heard) votes_ = votes_.With(member);
    }
  }
  is_by_hand_ = true;
  BecomePrimary(now);
}

void SafeReplica::Promise(Epoch epoch, std::optional<MemberIndex> voted_for) {
  promise_.epoch = epoch;
  promise_.voted_for = voted_for;
  log_.Promise(promise_);
}

void SafeReplica::BecomeSecondary(TimePoint now) {
  if (!participates()) return;
  role_ = ReplicaRole::kSecondary;
  primary_.reset();
  successor_.reset();
  take_over_sent_ = false;
  is_by_hand_ = false;
  AwaitElection(now, options_.election_timeout);
}

// Storage and time.

void SafeReplica::Restored(const EpochStart& base, MemberSet write_set, TimePoint now) {
  const bool has_it = base.lsn <= log_.last_lsn() && log_.EpochAt(base.lsn) == base.epoch;
  if (has_it) return log_.Commit(base.lsn);
  if (base.lsn <= log_.committed()) return;
  log_.Restart(base, write_set);
  if (role_ == ReplicaRole::kPrimary) BecomeSecondary(now);
}

ReplicaActions SafeReplica::DrainActions() {
  ReplicaActions taken = std::exchange(actions_, {});
  taken.change = log_.NextChange(&taken.change_number);
  if (by_hand_epoch_ != 0 && !by_hand_change_) by_hand_change_ = taken.change_number;
  return taken;
}

void SafeReplica::Stored(uint64_t change_number, TimePoint now) {
  if (role_ == ReplicaRole::kPrimary) CountHoldUps(now);
  log_.Stored(change_number);
  if (by_hand_epoch_ != 0 && by_hand_change_ && change_number >= *by_hand_change_) BeginByHand(now);
  if (role_ == ReplicaRole::kPrimary) Lead(now);
}

void SafeReplica::Tick(TimePoint now) {
  if (now >= hello_at_) SayHello(now);
  if (role_ == ReplicaRole::kPrimary) {
    CountHoldUps(now);
    if (now >= heartbeat_at_) Heartbeat(now);
    Lead(now);
  } else if (participates() && now >= election_at_) {
    AskForVotes(/*trial=*/true, /*hand_over=*/false, now);
  }
}

TimePoint SafeReplica::NextEvent() const {
  TimePoint next = hello_at_;
  if (role_ == ReplicaRole::kPrimary) {
    next = std::min(next, heartbeat_at_);
    return successor_ ? std::min(next, hand_over_ends_at_) : next;
  }
  return participates() ? std::min(next, election_at_) : next;
}

}  // namespace neptune
