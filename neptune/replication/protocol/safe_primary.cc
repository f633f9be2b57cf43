// SafeReplica as the primary: sending, commits, membership of the write set, hand-over.

#include <algorithm>
#include <array>
#include <utility>

#include "neptune/replication/protocol/safe_replica.h"

namespace neptune {
namespace {

// Maximum delay before a commit is sent if no entries carry it.
constexpr Duration kCommitNewsDelay = std::chrono::milliseconds(5);
// Number of heartbeats after which unanswered entries are sent again.
constexpr int kResendHeartbeats = 3;
// Number of election timeouts without a majority's answer after which a primary steps down.
constexpr int kDeafTimeouts = 2;
// held_up decreases by 1 / kForgivenShare of the time that passes.
constexpr int kForgivenShare = 10;
// Time in the write set after which the return delay is reset.
constexpr Duration kGoodConduct = std::chrono::minutes(1);
// A member may take this many times the answer time of the quickest majority.
constexpr int kPatience = 5;
// Inverse weight of a new answer time in the moving average.
constexpr int kAnswerTimeWeight = 8;

}  // namespace

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

void SafeReplica::HandleAppendAnswer(MemberIndex from, const ReplicaMessage& message,
                                     TimePoint now) {
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

StatusOr<Lsn> SafeReplica::Propose(LogEntry write, TimePoint now) {
  if (role_ != ReplicaRole::kPrimary || group_.IsWitness(group_.self)) {
    return FailedPrecondition("this replica is not the primary");
  }
  if (successor_) return Unavailable("the primary is handing over");
  if (log_.last_lsn() - log_.committed() >= options_.uncommitted_count_max) {
    return ResourceExhausted(log_.last_lsn() - log_.committed(), " writes are in progress");
  }
  CountHoldUps(now);
  write.lsn = log_.last_lsn() + 1;
  write.epoch = promise_.epoch;
  write.kind = EntryKind::kWrite;
  log_.Append(std::move(write));
  SendEntries(now);
  return log_.last_lsn();
}

void SafeReplica::Unreachable(MemberIndex member, TimePoint now) {
  Peer& peer = peers_[member];
  if (role_ != ReplicaRole::kPrimary || peer.resend_at <= now) return;
  // Resend with the next heartbeat, not at once, since the member may be down.
  peer.resend_at = std::min(peer.resend_at, heartbeat_at_);
}

void SafeReplica::Lead(TimePoint now) {
  Commit(now);
  const TimePoint answered_for = std::max(primary_since_, MajorityAnsweredFor());
  const Duration patience =
      is_by_hand_ ? options_.by_hand_wait_max : kDeafTimeouts * options_.election_timeout;
  if (now > AddSaturated(answered_for, patience)) {
    BecomeSecondary(now);
    return;
  }
  ExpelSlow(now);
  Admit(now);
  MaintainHandOver(now);
  if (role_ == ReplicaRole::kPrimary) SendEntries(now);
}

void SafeReplica::Heartbeat(TimePoint now) {
  heartbeat_at_ = now + options_.heartbeat_interval;
  for (MemberIndex to = 0; to < group_.size(); ++to) {
    if (to != group_.self) SendAppend(to, now);
  }
}

// A participating witness outside of the write set gets heartbeats but no entries.
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
  message.by_hand = is_by_hand_;
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
  message.committed = log_.committed();
  message.primary_stamp = StampOf(now);
  message.member_stamp = peer.member_stamp;
  message.yes = IsLeased(now);
  message.by_hand = is_by_hand_;
  const bool with_entries = is_free && !peer.is_probing && IsFed(to);
  if (is_free) peer.last_when_sent = log_.last_lsn();
  const Lsn entries_to =
      with_entries ? std::min(log_.last_lsn(), prev + kMessageEntryCountMax) : message.prev_lsn;
  if (is_free && !peer.is_probing && entries_to == message.prev_lsn) peer.resend_at = now;
  SendAtOnce(to, std::move(message), entries_to);
}

Lsn SafeReplica::StoredBy(MemberIndex member) const {
  if (member == group_.self) return log_.stored();
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
  // Entries of earlier primaries are committed with the first entry of this epoch.
  if (all <= log_.committed() || log_.EpochAt(all) != promise_.epoch) return;
  log_.Commit(all);
  is_by_hand_ = false;
  heartbeat_at_ = std::min(heartbeat_at_, now + kCommitNewsDelay);
}

void SafeReplica::AppendWriteSet(MemberSet members, TimePoint now) {
  const MemberSet before = log_.write_set();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    Peer& peer = peers_[member];
    if (members.contains(member) && !before.contains(member)) peer.in_set_since = now;
    // The smaller set could not do without its members, so their delays do not count.
    if (members.size() > before.size()) peer.held_up = Duration{0};
  }
  LogEntry entry;
  entry.lsn = log_.last_lsn() + 1;
  entry.epoch = promise_.epoch;
  entry.kind = EntryKind::kWriteSet;
  entry.write_set = members;
  log_.Append(std::move(entry));
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

// Time that a member may take, relative to the answer time of the quickest majority, which is the
// minimum that a write takes.
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

// Starts the clock for the oldest entries that all others have stored and this member has not.
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
  // A primary must commit its first entry before it removes a witness from the set.
  if (log_.committed() >= first_of_epoch_) members = WithoutNeedlessWitness(members);
  if (!(members == log_.write_set())) AppendWriteSet(members, now);
}

std::optional<MemberIndex> SafeReplica::ChooseSuccessor(TimePoint now) const {
  const bool must_go =
      group_.IsWitness(group_.self) || peers_[group_.self].held_up > options_.hold_up_max;
  const MemberIndex end = must_go ? static_cast<MemberIndex>(group_.size()) : group_.self;
  for (MemberIndex member = 0; member < end; ++member) {
    if (member == group_.self || group_.IsWitness(member) || !IsHeard(member, now)) continue;
    const Peer& peer = peers_[member];
    if (!log_.write_set().contains(member) || peer.matched < log_.committed()) continue;
    if (must_go || now - peer.in_set_since >= options_.hand_over_delay) return member;
  }
  return std::nullopt;
}

void SafeReplica::MaintainHandOver(TimePoint now) {
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
    // The successor may still be elected at any time; only a larger epoch makes this primary the
    // only one again.
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

TimePoint SafeReplica::MajorityAnsweredFor() const {
  std::array<TimePoint, kMemberCountMax> times;
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    const Peer& peer = peers_[member];
    times[member] = member == group_.self ? kNever
                    : peer.counts         ? peer.answered_for
                                          : TimePoint::min();
  }
  std::sort(times.begin(), times.begin() + group_.size(), std::greater<>());
  return times[group_.majority() - 1];
}

TimePoint SafeReplica::leased_until() const {
  if (role_ != ReplicaRole::kPrimary || take_over_sent_) return TimePoint::min();
  // Before that, there may be committed writes that this primary does not know to be committed.
  if (log_.executable() < first_of_epoch_) return TimePoint::min();
  const TimePoint answered_for = MajorityAnsweredFor();
  if (answered_for == TimePoint::min()) return answered_for;
  return AddSaturated(answered_for, options_.lease_duration);
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

}  // namespace neptune
