#include "neptune/replication/safe_replica.h"

#include <algorithm>
#include <array>
#include <utility>

namespace neptune {
namespace {

// A commit is told this soon where no entries are sent that would tell it.
constexpr Duration kCommitNewsDelay = std::chrono::milliseconds(5);
// Entries without an answer are sent again after so many heartbeats.
constexpr int kResendHeartbeats = 3;
// A primary that no majority has answered for so many election timeouts gives up.
constexpr int kDeafTimeouts = 2;
// Of time that passes, how much of what a member held up is forgiven.
constexpr int kForgivenShare = 10;
// How long in the write set makes earlier departures forgotten.
constexpr Duration kGoodConduct = std::chrono::minutes(1);
// A member may take so many times as long as the quickest majority.
constexpr int kPatience = 5;
// Weight of one more answer's time.
constexpr int kAnswerTimeWeight = 8;

int64_t StampOf(TimePoint time) { return time.time_since_epoch().count(); }
TimePoint TimeOf(int64_t stamp) { return TimePoint(Duration(stamp)); }

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
      committed_(std::clamp(found.committed, found.base.lsn, found.last_lsn)),
      stored_(found.last_lsn),
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
      TakeHello(from);
      break;
    case ReplicaMessageKind::kHelloAnswer:
      TakeHelloAnswer(from, message, now);
      break;
    case ReplicaMessageKind::kAppend:
      TakeAppend(from, message, now);
      break;
    case ReplicaMessageKind::kBehind:
      TakeBehind(from, message, now);
      break;
    case ReplicaMessageKind::kAppendAnswer:
      TakeAppendAnswer(from, message, now);
      break;
    case ReplicaMessageKind::kAskVote:
      TakeAskVote(from, message, now);
      break;
    case ReplicaMessageKind::kVote:
      TakeVote(from, message, now);
      break;
    case ReplicaMessageKind::kTakeOver:
      TakeTakeOver(from, message, now);
      break;
  }
  if (role_ == ReplicaRole::kPrimary) Lead(now);
}

void SafeReplica::TakeHello(MemberIndex from) {
  ReplicaMessage answer = Make(ReplicaMessageKind::kHelloAnswer, from);
  answer.yes = is_untouched();
  answer.counts = participates();
  SendAfterStored(from, std::move(answer));
}

void SafeReplica::TakeHelloAnswer(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
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
  if (!participates() && (answered_.size() < group_.majority() || message.epoch < recover_epoch_)) {
    return false;
  }
  if (message.epoch < promise_.epoch) {
    // The sender learns of the larger epoch.
    SendAfterStored(from, Make(ReplicaMessageKind::kAppendAnswer, from));
    return false;
  }
  if (message.epoch > promise_.epoch) Promise(message.epoch, std::nullopt);
  if (role_ == ReplicaRole::kPrimary && primary_ == group_.self) {
    BecomeSecondary(now);  // REQUIRES a larger epoch, for there is one primary in each
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
  answer.committed = committed_;
  return answer;
}

void SafeReplica::TakeAppend(MemberIndex from, ReplicaMessage& message, TimePoint now) {
  if (!Follow(from, message, now)) return;
  ReplicaMessage answer = AnswerTo(from, message, now);
  const bool is_here = message.prev_lsn >= log_.base().lsn;
  if (message.prev_lsn > log_.last_lsn()) {
    answer.matched = log_.last_lsn();
  } else if (is_here && log_.EpochAt(message.prev_lsn) != message.prev_epoch) {
    answer.matched = std::max(committed_, log_.EpochBegin(message.prev_lsn) - 1);
  } else {
    const Lsn matched = message.prev_lsn + message.entries.size();
    if (!TakeEntries(message)) return;
    answer.yes = true;
    answer.matched = std::max(matched, log_.base().lsn);
    Learn(message, answer.matched);
    LookWhetherRecovered(message, now);
  }
  answer.counts = participates();
  SendAfterStored(from, std::move(answer));
}

bool SafeReplica::TakeEntries(ReplicaMessage& append) {
  Lsn lsn = append.prev_lsn;
  for (const LogEntry& entry : append.entries) {
    if (entry.lsn != ++lsn || entry.epoch > append.epoch) return false;
  }
  for (LogEntry& entry : append.entries) {
    if (entry.lsn <= log_.base().lsn) continue;
    if (entry.lsn <= log_.last_lsn()) {
      if (log_.EpochAt(entry.lsn) == entry.epoch) continue;
      if (entry.lsn <= committed_)
        return false;  // only a broken sender contradicts what is committed
      DropFrom(entry.lsn);
    }
    Append(std::move(entry));
  }
  return true;
}

void SafeReplica::Learn(const ReplicaMessage& append, Lsn matched) {
  SetCommitted(std::min(append.committed, matched));
  if (!append.yes || append.member_stamp == 0 || append.committed > matched) return;
  const TimePoint as_of = TimeOf(append.member_stamp);
  if (!freshness_ || freshness_->as_of < as_of) freshness_ = {append.committed, as_of};
}

void SafeReplica::TakeBehind(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
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

void SafeReplica::TakeAppendAnswer(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (!participates() || message.epoch < promise_.epoch) return;
  if (message.epoch > promise_.epoch) {
    Promise(message.epoch, std::nullopt);
    BecomeSecondary(now);
    return;
  }
  if (role_ != ReplicaRole::kPrimary || message.matched > log_.last_lsn()) return;
  Peer& peer = peers_[from];
  const TimePoint sent_at = TimeOf(message.primary_stamp);
  if (sent_at > now || sent_at < primary_since_) return;
  peer.counts = message.counts;
  peer.heard_at = now;
  peer.member_stamp = std::max(peer.member_stamp, message.member_stamp);
  if (sent_at > peer.answered_for) {
    peer.answered_for = sent_at;
    const Duration took = now - sent_at;
    peer.answer_time +=
        (took - peer.answer_time) / (peer.answer_time == Duration{0} ? 1 : kAnswerTimeWeight);
  }
  if (message.yes) {
    if (message.matched > peer.matched || peer.is_probing) peer.resend_at = now;
    peer.is_probing = false;
    peer.matched = std::max(peer.matched, message.matched);
    peer.next = peer.matched + 1;
    peer.keeps_up = peer.matched >= peer.last_when_sent;
  } else if (peer.is_probing && message.matched + 1 < peer.next) {
    peer.next = std::max(message.matched, peer.matched) + 1;
    peer.resend_at = now;
  }
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
  actions_.change.promise = promise_;
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

void SafeReplica::TakeAskVote(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
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

void SafeReplica::TakeVote(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
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

void SafeReplica::TakeTakeOver(MemberIndex from, const ReplicaMessage& message, TimePoint now) {
  if (!participates() || group_.IsWitness(group_.self) || !Follow(from, message, now)) return;
  if (message.last_lsn <= log_.last_lsn()) AskForVotes(/*trial=*/false, /*hand_over=*/true, now);
}

void SafeReplica::AskForVotes(bool trial, bool hand_over, TimePoint now) {
  role_ = ReplicaRole::kCandidate;
  primary_.reset();
  // Others may have begun a new life, in which they take nothing that was meant for the last one.
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

void SafeReplica::Promise(Epoch epoch, std::optional<MemberIndex> voted_for) {
  promise_.epoch = epoch;
  promise_.voted_for = voted_for;
  actions_.change.promise = promise_;
}

void SafeReplica::BecomeSecondary(TimePoint now) {
  if (!participates()) return;
  role_ = ReplicaRole::kSecondary;
  primary_.reset();
  successor_.reset();
  take_over_sent_ = false;
  AwaitElection(now, options_.election_timeout);
}

void SafeReplica::BecomePrimary(TimePoint now) {
  role_ = ReplicaRole::kPrimary;
  primary_ = group_.self;
  primary_since_ = now;
  hold_ups_counted_at_ = now;
  successor_.reset();
  take_over_sent_ = false;
  next_hand_over_ = now + options_.hand_over_delay;
  for (Peer& peer : peers_) {
    peer = Peer{.incarnation = peer.incarnation,
                .next = log_.last_lsn() + 1,
                .resend_at = now,
                .heard_at = now,
                .in_set_since = now,
                .may_return = now,
                .return_delay = peer.return_delay};
  }
  first_of_epoch_ = log_.last_lsn() + 1;
  AppendWriteSet(WithoutNeedlessWitness(votes_), now);
  Heartbeat(now);
  Lead(now);
}

// As the primary.

StatusOr<Lsn> SafeReplica::Propose(LogEntry write, TimePoint now) {
  if (role_ != ReplicaRole::kPrimary || group_.IsWitness(group_.self)) {
    return FailedPrecondition("this replica is not the primary");
  }
  if (successor_) return Unavailable("the primary is handing over");
  if (log_.last_lsn() - committed_ >= options_.uncommitted_count_max) {
    return ResourceExhausted(log_.last_lsn() - committed_, " writes are under way");
  }
  CountHoldUps(now);
  write.lsn = log_.last_lsn() + 1;
  write.epoch = promise_.epoch;
  write.kind = EntryKind::kWrite;
  Append(std::move(write));
  SendEntries(now);
  return log_.last_lsn();
}

void SafeReplica::Unreachable(MemberIndex member, TimePoint now) {
  Peer& peer = peers_[member];
  if (role_ != ReplicaRole::kPrimary || peer.resend_at <= now) return;
  // With the next heartbeat, not at once: nobody may be there.
  peer.resend_at = std::min(peer.resend_at, heartbeat_at_);
}

void SafeReplica::Lead(TimePoint now) {
  Commit(now);
  const TimePoint answered_for = std::max(primary_since_, MajorityAnsweredFor(now));
  if (now - answered_for > kDeafTimeouts * options_.election_timeout) {
    BecomeSecondary(now);
    return;
  }
  ExpelSlow(now);
  Admit(now);
  TendHandOver(now);
  if (role_ == ReplicaRole::kPrimary) SendEntries(now);
}

void SafeReplica::Heartbeat(TimePoint now) {
  heartbeat_at_ = now + options_.heartbeat_interval;
  for (MemberIndex to = 0; to < group_.size(); ++to) {
    if (to != group_.self) SendAppend(to, now);
  }
}

// A witness that takes part, and that the write set does without, is told that there is a primary, and nothing else.
bool SafeReplica::IsFed(MemberIndex member) const {
  return !group_.IsWitness(member) || log_.write_set().contains(member) || !peers_[member].counts;
}

void SafeReplica::SendEntries(TimePoint now) {
  for (MemberIndex to = 0; to < group_.size(); ++to) {
    const Peer& peer = peers_[to];
    if (to == group_.self || !IsFed(to) || peer.resend_at > now) continue;
    if (peer.is_probing || peer.next <= log_.last_lsn()) SendAppend(to, now);
  }
}

void SafeReplica::SendBehind(MemberIndex to, TimePoint now) {
  ReplicaMessage message = Make(ReplicaMessageKind::kBehind, to);
  message.prev_lsn = log_.base().lsn;
  message.prev_epoch = log_.base().epoch;
  message.write_set = log_.WriteSetAt(log_.base().lsn);
  message.last_lsn = log_.last_lsn();
  message.primary_stamp = StampOf(now);
  SendAtOnce(to, std::move(message));
}

void SafeReplica::SendAppend(MemberIndex to, TimePoint now) {
  Peer& peer = peers_[to];
  if (peer.incarnation == 0) return;
  const bool is_free = peer.resend_at <= now;
  if (is_free) peer.resend_at = now + kResendHeartbeats * options_.heartbeat_interval;
  const Lsn prev = peer.next - 1;
  if (prev < log_.base().lsn && IsFed(to)) return SendBehind(to, now);
  ReplicaMessage message = Make(ReplicaMessageKind::kAppend, to);
  message.prev_lsn = std::max(prev, log_.base().lsn);
  message.prev_epoch = *log_.EpochAt(message.prev_lsn);
  message.last_lsn = log_.last_lsn();
  message.committed = committed_;
  message.primary_stamp = StampOf(now);
  message.member_stamp = peer.member_stamp;
  message.yes = IsLeased(now);
  const bool with_entries = is_free && !peer.is_probing && IsFed(to);
  if (is_free) peer.last_when_sent = log_.last_lsn();
  const Lsn entries_to =
      with_entries ? std::min(log_.last_lsn(), prev + kMessageEntryCountMax) : message.prev_lsn;
  if (is_free && !peer.is_probing && entries_to == message.prev_lsn) peer.resend_at = now;
  SendAtOnce(to, std::move(message), entries_to);
}

Lsn SafeReplica::StoredBy(MemberIndex member) const {
  if (member == group_.self) return stored_;
  return peers_[member].counts ? peers_[member].matched : 0;
}

Lsn SafeReplica::StoredByAll(MemberSet members) const {
  Lsn all = log_.last_lsn();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (members.contains(member)) all = std::min(all, StoredBy(member));
  }
  return all;
}

void SafeReplica::Commit(TimePoint now) {
  const Lsn all = StoredByAll(log_.write_set());
  // What earlier primaries ordered is committed with the first entry of this one.
  if (all <= committed_ || log_.EpochAt(all) != promise_.epoch) return;
  SetCommitted(all);
  heartbeat_at_ = std::min(heartbeat_at_, now + kCommitNewsDelay);
}

void SafeReplica::AppendWriteSet(MemberSet members, TimePoint now) {
  const MemberSet before = log_.write_set();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    Peer& peer = peers_[member];
    if (members.contains(member) && !before.contains(member)) peer.in_set_since = now;
    // While nobody else was there it could not be done without, however long it took.
    if (members.size() > before.size()) peer.held_up = Duration{0};
  }
  LogEntry entry;
  entry.lsn = log_.last_lsn() + 1;
  entry.epoch = promise_.epoch;
  entry.kind = EntryKind::kWriteSet;
  entry.write_set = members;
  Append(std::move(entry));
}

MemberSet SafeReplica::WithoutNeedlessWitness(MemberSet members) const {
  MemberSet with_data = members;
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (group_.IsWitness(member) && member != group_.self) with_data = with_data.Without(member);
  }
  return with_data.size() >= group_.majority() ? with_data : members;
}

bool SafeReplica::IsHeard(MemberIndex member, TimePoint now) const {
  const Peer& peer = peers_[member];
  return peer.counts && now - peer.heard_at < options_.election_timeout;
}

void SafeReplica::CountHoldUps(TimePoint now) {
  const Duration passed = now - hold_ups_counted_at_;
  const TimePoint last_counted = std::exchange(hold_ups_counted_at_, now);
  const MemberSet members = log_.write_set();
  const Duration patience = Patience();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (!members.contains(member)) continue;
    Peer& peer = peers_[member];
    if (peer.awaited != 0) {
      const TimePoint from = std::max(last_counted, peer.awaited_since + patience);
      peer.held_up += std::max(Duration{0}, now - from);
    }
    peer.held_up = std::max(Duration{0}, peer.held_up - passed / kForgivenShare);
    AwaitMember(member, StoredByAll(members.Without(member)), now);
  }
}

// What the quickest majority takes is what writes take at best.
Duration SafeReplica::Patience() const {
  std::array<Duration, kMemberCountMax> times;
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    const Peer& peer = peers_[member];
    times[member] = member == group_.self || peer.counts ? peer.answer_time : Duration::max();
  }
  std::sort(times.begin(), times.begin() + group_.size());
  const Duration majority = times[group_.majority() - 1];
  return std::max(options_.answer_time_max,
                  std::min(majority, options_.election_timeout) * kPatience);
}

// Of what all others have stored, the member is given time for the oldest part that it has not.
void SafeReplica::AwaitMember(MemberIndex member, Lsn others, TimePoint now) {
  Peer& peer = peers_[member];
  const Lsn stored = StoredBy(member);
  if (peer.awaited != 0 && stored < peer.awaited) return;
  peer.awaited = stored < others ? others : 0;
  peer.awaited_since = now;
}

void SafeReplica::ExpelSlow(TimePoint now) {
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (member == group_.self || !log_.write_set().contains(member)) continue;
    const bool is_silent = now - peers_[member].heard_at > options_.election_timeout;
    if (is_silent || peers_[member].held_up > options_.hold_up_max) Expel(member, now);
  }
}

bool SafeReplica::Expel(MemberIndex member, TimePoint now) {
  MemberSet rest = log_.write_set().Without(member);
  for (MemberIndex witness = 0; witness < group_.size(); ++witness) {
    if (rest.size() >= group_.majority()) break;
    if (group_.IsWitness(witness) && witness != member && IsHeard(witness, now)) {
      rest = rest.With(witness);
    }
  }
  if (rest.size() < group_.majority()) return false;
  Peer& peer = peers_[member];
  const bool behaved = now - peer.in_set_since > kGoodConduct || peer.return_delay == Duration{0};
  peer.return_delay =
      behaved ? options_.return_delay : std::min(2 * peer.return_delay, options_.return_delay_max);
  peer.may_return = now + peer.return_delay;
  peer.held_up = Duration{0};
  AppendWriteSet(rest, now);
  return true;
}

bool SafeReplica::MayReturn(MemberIndex member, TimePoint now) const {
  const Peer& peer = peers_[member];
  if (!peer.keeps_up || now < peer.may_return) return false;
  if (!IsHeard(member, now) || now - peer.heard_at > 2 * options_.heartbeat_interval) return false;
  return peer.answer_time <= Patience();
}

void SafeReplica::Admit(TimePoint now) {
  MemberSet members = log_.write_set();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (members.contains(member) || group_.IsWitness(member)) continue;
    if (MayReturn(member, now)) members = members.With(member);
  }
  // A primary's first entry is to be committed before it does without anybody.
  if (committed_ >= first_of_epoch_) members = WithoutNeedlessWitness(members);
  if (!(members == log_.write_set())) AppendWriteSet(members, now);
}

std::optional<MemberIndex> SafeReplica::ChooseSuccessor(TimePoint now) const {
  const bool must_go =
      group_.IsWitness(group_.self) || peers_[group_.self].held_up > options_.hold_up_max;
  const MemberIndex end = must_go ? static_cast<MemberIndex>(group_.size()) : group_.self;
  for (MemberIndex member = 0; member < end; ++member) {
    if (member == group_.self || group_.IsWitness(member) || !IsHeard(member, now)) continue;
    const Peer& peer = peers_[member];
    if (!log_.write_set().contains(member) || peer.matched < committed_) continue;
    if (must_go || now - peer.in_set_since >= options_.hand_over_delay) return member;
  }
  return std::nullopt;
}

void SafeReplica::TendHandOver(TimePoint now) {
  if (!successor_) {
    if (now < next_hand_over_ && !group_.IsWitness(group_.self)) return;
    successor_ = ChooseSuccessor(now);
    if (!successor_) return;
    hand_over_ends_at_ = now + options_.hand_over_max;
  }
  if (now >= hand_over_ends_at_) {
    const bool was_sent = take_over_sent_;
    successor_.reset();
    take_over_sent_ = false;
    peers_[group_.self].held_up = Duration{0};
    next_hand_over_ = now + options_.hand_over_delay;
    // The successor may be elected at any later time: only a larger epoch makes this primary the only one again.
    if (was_sent) AskForVotes(/*trial=*/false, /*hand_over=*/true, now);
    return;
  }
  if (take_over_sent_ || peers_[*successor_].matched < log_.last_lsn()) return;
  ReplicaMessage message = Make(ReplicaMessageKind::kTakeOver, *successor_);
  message.last_lsn = log_.last_lsn();
  message.primary_stamp = StampOf(now);
  take_over_sent_ = true;
  SendAtOnce(*successor_, std::move(message));
}

TimePoint SafeReplica::MajorityAnsweredFor(TimePoint now) const {
  std::array<TimePoint, kMemberCountMax> times;
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    const Peer& peer = peers_[member];
    times[member] = member == group_.self ? now
                    : peer.counts         ? peer.answered_for
                                          : TimePoint::min();
  }
  std::sort(times.begin(), times.begin() + group_.size(), std::greater<>());
  return times[group_.majority() - 1];
}

bool SafeReplica::IsLeased(TimePoint now) const {
  if (role_ != ReplicaRole::kPrimary || take_over_sent_) return false;
  // Before, there may be committed writes that it does not know to be.
  if (committed_ < first_of_epoch_) return false;
  return now < MajorityAnsweredFor(now) + options_.lease_duration;
}

Lsn SafeReplica::needed_from() const {
  if (role_ != ReplicaRole::kPrimary) return 0;
  Lsn needed = log_.last_lsn();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (member != group_.self && !group_.IsWitness(member)) {
      needed = std::min(needed, peers_[member].matched);
    }
  }
  return needed + 1;
}

// The log.

void SafeReplica::DropFrom(Lsn lsn) {
  LogChange& change = actions_.change;
  if (!change.entries.empty() && lsn >= change.entries.front().lsn) {
    change.entries.resize(lsn - change.entries.front().lsn);
  } else {
    change.entries.clear();
    change.drop_from = change.drop_from == 0 ? lsn : std::min(change.drop_from, lsn);
  }
  log_.DropFrom(lsn);
  stored_ = std::min(stored_, lsn - 1);
  for (PendingChange& pending : pending_) pending.last_lsn = std::min(pending.last_lsn, lsn - 1);
}

void SafeReplica::Append(LogEntry entry) {
  log_.Append(entry);
  actions_.change.entries.push_back(std::move(entry));
}

void SafeReplica::SetCommitted(Lsn lsn) {
  if (lsn <= committed_) return;
  committed_ = lsn;
}

void SafeReplica::Restored(const EpochStart& base, MemberSet write_set, TimePoint now) {
  const bool has_it = base.lsn <= log_.last_lsn() && log_.EpochAt(base.lsn) == base.epoch;
  if (base.lsn <= committed_ || has_it) {
    SetCommitted(has_it ? base.lsn : committed_);
    return;
  }
  LogChange& change = actions_.change;
  change.drop_from = 0;
  change.entries.clear();
  change.restart = LogChange::Restart{base, write_set};
  log_.Restart(base, write_set);
  committed_ = base.lsn;
  stored_ = 0;
  for (PendingChange& pending : pending_) pending.last_lsn = 0;
  if (role_ == ReplicaRole::kPrimary) BecomeSecondary(now);
}

ReplicaActions SafeReplica::TakeActions() {
  ReplicaActions taken = std::exchange(actions_, {});
  if (!taken.change.empty()) {
    taken.change_number = ++change_number_;
    pending_.push_back({change_number_, log_.last_lsn()});
  } else {
    taken.change_number = change_number_;
  }
  return taken;
}

void SafeReplica::Stored(uint64_t change_number, TimePoint now) {
  if (role_ == ReplicaRole::kPrimary) CountHoldUps(now);
  while (!pending_.empty() && pending_.front().number <= change_number) {
    stored_ = std::max(stored_, pending_.front().last_lsn);
    pending_.pop_front();
  }
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

std::string_view NameOf(ReplicaRole role) {
  switch (role) {
    case ReplicaRole::kBlank:
      return "blank";
    case ReplicaRole::kRecovering:
      return "recovering";
    case ReplicaRole::kSecondary:
      return "secondary";
    case ReplicaRole::kCandidate:
      return "candidate";
    case ReplicaRole::kPrimary:
      return "primary";
  }
  return "unknown";
}

}  // namespace neptune
