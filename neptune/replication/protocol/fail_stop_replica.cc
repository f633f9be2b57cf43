#include "neptune/replication/protocol/fail_stop_replica.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"

namespace neptune {
namespace {

// A member that lacks at most this many entries joins the write set; writes then wait for it.
constexpr Lsn kAdmissionLag = 64;

}  // namespace

FailStopReplica::FailStopReplica(ReplicaGroup group, const FailStopReplicaOptions& options,
                                 const LogOutline& found, uint64_t incarnation, TimePoint now)
    : group_(std::move(group)),
      options_(options),
      incarnation_(incarnation),
      promise_(found.promise),
      log_(found),
      peers_(group_.members.size()),
      announce_at_(now) {
  if (is_untouched()) role_ = ReplicaRole::kBlank;
  is_forced_ = group_.size() == 1;
}

// Messages.

void FailStopReplica::Step(MemberIndex from, ReplicaMessage message, TimePoint now) {
  if (from >= group_.size() || from == group_.self || message.from_incarnation == 0) return;
  const bool is_hello = message.kind == ReplicaMessageKind::kHello;
  if (!is_hello && message.to_incarnation != incarnation_) return;
  Meet(from, message, now);
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

// Detects a new incarnation of a member, which implies that the previous one has stopped.
void FailStopReplica::Meet(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  Peer& peer = peers_[from];
  if (peer.incarnation != message.from_incarnation) {
    peer = Peer();
    peer.incarnation = message.from_incarnation;
    peer.next = log_.last_lsn() + 1;
    if (primary_ == from) primary_.reset();
    if (successor_ == from) successor_.reset();
  }
  peer.heard_at = now;
  peer.epoch = std::max(peer.epoch, message.epoch);
}

void FailStopReplica::HandleHello(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  Peer& peer = peers_[from];
  peer.is_operational = message.counts;
  peer.was_blank = peer.was_blank || message.trial;
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
  if (role_ == ReplicaRole::kBlank && AllAreBlank()) {
    Promise(NextEpoch(), group_.self);
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
  ReplicaMessage answer = Make(ReplicaMessageKind::kAppendAnswer, from);
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
  actions_.after_stored.push_back({from, std::move(answer), 0});
}

void FailStopReplica::HandleBehind(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (!Follow(from, message)) return;
  const bool has_it =
      message.prev_lsn <= log_.last_lsn() &&
      (message.prev_lsn < log_.base().lsn || log_.EpochAt(message.prev_lsn) == message.prev_epoch);
  if (!has_it) {
    actions_.restore_from = from;
    return;
  }
  ReplicaMessage answer = Make(ReplicaMessageKind::kAppendAnswer, from);
  answer.member_stamp = StampOf(now);
  answer.committed = log_.committed();
  answer.yes = true;
  answer.matched = std::max(message.prev_lsn, log_.base().lsn);
  actions_.after_stored.push_back({from, std::move(answer), 0});
}

void FailStopReplica::HandleAppendAnswer(MemberIndex from, const ReplicaMessage& message,
                                         TimePoint now) {
  const bool is_serving = role_ == ReplicaRole::kPrimary || successor_ == from;
  if (!is_serving || message.epoch != promise_.epoch || message.matched > log_.last_lsn()) return;
  Peer& peer = peers_[from];
  peer.resend_at = now;
  peer.member_stamp = std::max(peer.member_stamp, message.member_stamp);
  if (message.yes) {
    if (message.matched > peer.matched) peer.progress_at = now;
    peer.matched = std::max(peer.matched, message.matched);
    peer.next = peer.matched + 1;
  } else {
    peer.next = std::max(peer.matched, std::min(message.matched, peer.next - 1)) + 1;
  }
}

ReplicaMessage FailStopReplica::Make(ReplicaMessageKind kind, MemberIndex to) const {
  ReplicaMessage message;
  message.kind = kind;
  message.from_incarnation = incarnation_;
  message.to_incarnation = peers_[to].incarnation;
  message.epoch = promise_.epoch;
  return message;
}

void FailStopReplica::Announce(TimePoint now) {
  announce_at_ = now + options_.announcement_interval;
  for (MemberIndex to = 0; to < group_.size(); ++to) {
    if (to == group_.self) continue;
    peers_[to].is_owed = true;
    ReplicaMessage hello = Make(ReplicaMessageKind::kHello, to);
    hello.last_lsn = log_.last_lsn();
    hello.committed = log_.committed();
    hello.trial = role_ == ReplicaRole::kBlank;
    hello.counts = is_operational_;
    hello.yes = role_ == ReplicaRole::kPrimary;
    actions_.at_once.push_back({to, std::move(hello), 0});
  }
}

// Starting and electing.

bool FailStopReplica::lives(MemberIndex member, TimePoint now) const {
  if (member == group_.self) return true;
  const Peer& peer = peers_[member];
  return may_live_.contains(member) && peer.incarnation != 0 &&
         now - peer.heard_at < options_.failure_timeout;
}

// In a new partition the most preferred member starts, and the others recover from it.
bool FailStopReplica::AllAreBlank() const {
  if (group_.self != 0) return false;
  for (MemberIndex member = 1; member < group_.size(); ++member) {
    if (!peers_[member].was_blank) return false;
  }
  return true;
}

bool FailStopReplica::IsPreferred(TimePoint now) const {
  for (MemberIndex member = 0; member < group_.self; ++member) {
    if (peers_[member].is_operational && lives(member, now) && !group_.IsWitness(member))
      return false;
  }
  return !group_.IsWitness(group_.self);
}

// Returns an epoch that no other member can choose.
Epoch FailStopReplica::NextEpoch() const {
  Epoch largest = promise_.epoch;
  for (const Peer& peer : peers_) largest = std::max(largest, peer.epoch);
  return (largest / kMemberCountMax + 1) * kMemberCountMax + (kMemberCountMax - 1 - group_.self);
}

void FailStopReplica::Promise(Epoch epoch, std::optional<MemberIndex> voted_for) {
  promise_.epoch = epoch;
  promise_.voted_for = voted_for;
  log_.Promise(promise_);
}

void FailStopReplica::LookForPrimary(TimePoint now) {
  if (is_forced_) {
    const bool has_primary = primary_ && lives(*primary_, now);
    if (!has_primary && role_ != ReplicaRole::kPrimary) {
      promise_.is_founded = true;
      is_operational_ = true;
      Promise(NextEpoch(), group_.self);
      BecomePrimary(now);
    }
    is_forced_ = false;
    return;
  }
  if (successor_ && !lives(*successor_, now)) successor_.reset();
  if (!is_operational_ || successor_ || role_ == ReplicaRole::kPrimary) return;
  if (primary_ && lives(*primary_, now)) return;
  if (role_ == ReplicaRole::kCandidate && now < election_at_) return;
  if (IsPreferred(now)) AskForVotes(/*hand_over=*/false, now);
}

void FailStopReplica::AskForVotes(bool hand_over, TimePoint now) {
  role_ = ReplicaRole::kCandidate;
  primary_.reset();
  is_bullying_ = hand_over;
  votes_ = MemberSet().With(group_.self);
  election_at_ = now + options_.election_retry;
  Promise(NextEpoch(), group_.self);
  for (MemberIndex to = 0; to < group_.size(); ++to) {
    if (to == group_.self || !lives(to, now)) continue;
    ReplicaMessage ask = Make(ReplicaMessageKind::kAskVote, to);
    ask.hand_over = hand_over;
    ask.last_lsn = log_.last_lsn();
    actions_.after_stored.push_back({to, std::move(ask), 0});
  }
  CountVotes(now);
}

void FailStopReplica::HandleAskVote(MemberIndex from, const ReplicaMessage& message,
                                    TimePoint now) {
  const bool has_primary = primary_ && primary_ != from && lives(*primary_, now);
  const bool is_better = is_operational_ && group_.self < from && !group_.IsWitness(group_.self);
  const bool is_possible = message.epoch > promise_.epoch && message.last_lsn >= log_.committed() &&
                           role_ != ReplicaRole::kPrimary;
  ReplicaMessage vote = Make(ReplicaMessageKind::kVote, from);
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
  actions_.after_stored.push_back({from, std::move(vote), 0});
}

void FailStopReplica::HandleVote(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (role_ != ReplicaRole::kCandidate) return;
  if (message.yes && message.epoch == promise_.epoch) {
    votes_ = votes_.With(from);
    peers_[from].is_operational = message.counts;
    CountVotes(now);
  } else if (!message.yes) {
    StepDown();
    look_at_ = now + options_.election_retry;
  }
}

void FailStopReplica::CountVotes(TimePoint now) {
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (lives(member, now) && !votes_.contains(member)) return;
  }
  BecomePrimary(now);
}

void FailStopReplica::BecomePrimary(TimePoint now) {
  role_ = ReplicaRole::kPrimary;
  primary_ = group_.self;
  successor_.reset();
  is_operational_ = true;
  MemberSet members = MemberSet().With(group_.self);
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    Peer& peer = peers_[member];
    peer.matched = 0;
    peer.next = log_.last_lsn() + 1;
    peer.resend_at = now;
    peer.told_committed = 0;
    peer.progress_at = now;
    peer.admitted = 0;
    if (member == group_.self || !peer.is_operational || !lives(member, now)) continue;
    members = members.With(member);
    peer.admitted = log_.last_lsn() + 1;
  }
  epoch_begin_ = log_.last_lsn() + 1;
  AppendWriteSet(members);
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
  if (log_.last_lsn() - log_.committed() >= options_.uncommitted_count_max) {
    return ResourceExhausted(options_.uncommitted_count_max, " writes are not committed");
  }
  write.kind = EntryKind::kWrite;
  write.lsn = log_.last_lsn() + 1;
  write.epoch = promise_.epoch;
  log_.Append(std::move(write));
  Serve(now);
  return log_.last_lsn();
}

void FailStopReplica::AppendWriteSet(MemberSet members) {
  log_.Append({.lsn = log_.last_lsn() + 1,
               .epoch = promise_.epoch,
               .kind = EntryKind::kWriteSet,
               .write_set = members});
}

void FailStopReplica::Serve(TimePoint now) {
  if (role_ == ReplicaRole::kPrimary) {
    MaintainWriteSet(now);
    Commit();
    for (MemberIndex to = 0; to < group_.size(); ++to) {
      if (to != group_.self) SendAppend(to, now);
    }
  } else if (successor_) {
    HandOver(*successor_, now);
  }
}

void FailStopReplica::MaintainWriteSet(TimePoint now) {
  MemberSet members = log_.write_set();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    Peer& peer = peers_[member];
    if (member == group_.self || group_.IsWitness(member)) continue;
    if (peer.matched == log_.last_lsn()) peer.progress_at = now;
    const bool is_late = now - peer.progress_at >= options_.acknowledge_timeout;
    const bool is_gone = !lives(member, now) || (peer.admitted != 0 && is_late);
    if (is_gone || (members.contains(member) && peer.admitted == 0)) {
      members = members.Without(member);
      peer.admitted = 0;
    } else if (peer.admitted == 0 && peer.matched != 0 &&
               peer.matched + kAdmissionLag >= log_.last_lsn()) {
      members = members.With(member);
      peer.admitted = log_.last_lsn() + 1;
      peer.progress_at = now;
    }
  }
  if (members != log_.write_set()) AppendWriteSet(members);
}

void FailStopReplica::Commit() {
  Lsn committed = log_.stored();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (member == group_.self || !log_.write_set().contains(member)) continue;
    committed = std::min(committed, peers_[member].matched);
  }
  log_.Commit(committed);
}

void FailStopReplica::SendAppend(MemberIndex to, TimePoint now) {
  Peer& peer = peers_[to];
  const bool is_due = now >= peer.resend_at;
  const bool has_news =
      peer.next <= log_.last_lsn() || log_.committed() > peer.told_committed || peer.is_owed;
  if (peer.incarnation == 0 || !lives(to, now) || !is_due || !has_news) return;
  const Lsn prev = peer.next - 1;
  const std::optional<Epoch> prev_epoch = log_.EpochAt(prev);
  ReplicaMessage message =
      Make(prev_epoch ? ReplicaMessageKind::kAppend : ReplicaMessageKind::kBehind, to);
  message.prev_lsn = prev_epoch ? prev : log_.base().lsn;
  message.prev_epoch = prev_epoch ? *prev_epoch : log_.base().epoch;
  message.write_set = log_.WriteSetAt(message.prev_lsn);
  message.last_lsn = log_.last_lsn();
  message.committed = log_.committed();
  message.matched = peer.admitted;
  message.member_stamp = peer.member_stamp;
  message.yes = IsLeased(now);
  peer.resend_at = now + 2 * options_.announcement_interval;
  peer.told_committed = log_.committed();
  peer.is_owed = false;
  const Lsn entries_to = prev_epoch ? log_.last_lsn() : 0;
  actions_.at_once.push_back({to, std::move(message), entries_to});
}

void FailStopReplica::HandOver(MemberIndex to, TimePoint now) {
  Peer& peer = peers_[to];
  if (peer.matched < log_.last_lsn() || log_.stored() < log_.last_lsn()) return SendAppend(to, now);
  if (now < peer.resend_at) return;
  peer.resend_at = now + 2 * options_.announcement_interval;
  ReplicaMessage message = Make(ReplicaMessageKind::kTakeOver, to);
  message.last_lsn = log_.last_lsn();
  actions_.at_once.push_back({to, std::move(message), 0});
}

Lsn FailStopReplica::needed_from() const {
  if (role_ != ReplicaRole::kPrimary) return 0;
  Lsn matched = log_.stored();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (member == group_.self || !log_.write_set().contains(member)) continue;
    matched = std::min(matched, peers_[member].matched);
  }
  return matched + 1;
}

// Time and storage.

void FailStopReplica::Tick(TimePoint now) {
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

ReplicaActions FailStopReplica::DrainActions() {
  ReplicaActions taken = std::exchange(actions_, {});
  taken.change = log_.NextChange(&taken.change_number);
  return taken;
}

void FailStopReplica::Stored(uint64_t change_number, TimePoint now) {
  log_.Stored(change_number);
  Serve(now);
}

void FailStopReplica::Restored(const EpochStart& base, MemberSet write_set, TimePoint) {
  if (base.lsn <= log_.committed() || role_ == ReplicaRole::kPrimary) return;
  log_.Restart(base, write_set);
}

}  // namespace neptune
