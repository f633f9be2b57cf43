#include "neptune/replication/protocol/safe/leadership.h"

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

// Maximum delay before a commit is sent if no entries carry it.
constexpr Duration kCommitNewsDelay = std::chrono::milliseconds(5);
// Number of heartbeats after which unanswered entries are sent again.
constexpr int kResendHeartbeats = 3;
// Number of election timeouts without a majority's answer after which a primary steps down.
constexpr int kDeafTimeouts = 2;
// Number of stores, each of which takes about as long as here, after which a member has answered.
constexpr int kAnswerStores = 4;

}  // namespace

Leadership::Leadership(const ReplicaGroup& group, const SafeReplicaOptions& options, MemberLog& log,
                       ReplicaOutbox& outbox, const StoreTime& store_time)
    : group_(group),
      options_(options),
      log_(log),
      outbox_(outbox),
      store_time_(store_time),
      progress_(group.members.size()),
      contact_(group),
      membership_(group, options),
      hand_over_(group, options),
      rest_(options) {}

void Leadership::Begin(Epoch epoch, MemberSet votes, TimePoint now) {
  epoch_ = epoch;
  began_at_ = now;
  std::fill(progress_.begin(), progress_.end(), PeerProgress(log_.last_lsn(), now));
  contact_.Begin(now);
  membership_.Begin(now);
  // A primary without room only waits until the others have said whether they have some.
  hand_over_.Begin(now, has_room_ ? options_.hand_over_delay : options_.election_timeout);
  rest_.Begin(now);
  first_of_epoch_ = log_.last_lsn() + 1;
  without_data_ = without_room_ = MemberSet();
  AppendWriteSet(membership_.WithoutNeedlessWitness(votes), now);
  Heartbeat(now);
}

void Leadership::End() {
  hand_over_.End();
  is_by_hand_ = false;
}

void Leadership::Forget(MemberIndex member, TimePoint now) {
  progress_[member] = PeerProgress(log_.last_lsn(), now);
  contact_.Forget(member, now);
  membership_.Forget(member, now);
}

void Leadership::CountHoldUps(TimePoint now) {
  membership_.CountHoldUps(log_.write_set(), Stored(), contact_, now);
}

StatusOr<Lsn> Leadership::Propose(LogEntry write, TimePoint now) {
  if (hand_over_.successor()) return Unavailable("the primary is handing over");
  if (log_.last_lsn() - log_.committed() >= options_.uncommitted_count_max) {
    return ResourceExhausted(log_.last_lsn() - log_.committed(), " writes are in progress");
  }
  Wake(/*is_activity=*/true, now);
  CountHoldUps(now);
  write.lsn = log_.last_lsn() + 1;
  write.epoch = epoch_;
  write.kind = EntryKind::kWrite;
  log_.Append(std::move(write));
  SendEntries(now);
  return log_.last_lsn();
}

void Leadership::Record(MemberIndex from, const ReplicaMessage& answer, TimePoint now) {
  if (answer.matched > log_.last_lsn()) return;
  const TimePoint sent_at = TimeOf(answer.primary_stamp);
  if (sent_at > now || sent_at < began_at_) return;
  contact_.Record(from, answer, sent_at, now);
  const bool lacks_data = answer.committed == 0 && log_.committed() > 0;
  without_data_ = lacks_data ? without_data_.With(from) : without_data_.Without(from);
  without_room_ = answer.lacks_room ? without_room_.With(from) : without_room_.Without(from);
  if (answer.yes) {
    progress_[from].Match(answer.matched, now);
  } else {
    progress_[from].Refuse(answer.matched, sent_at, now);
  }
}

// Resends with the next heartbeat, not at once, since the member may be down.
void Leadership::NoteUnreachable(MemberIndex member, TimePoint now) {
  progress_[member].Lose(heartbeat_at_, now);
}

Leadership::Verdict Leadership::Lead(TimePoint now) {
  if (rest_.is_resting()) return Verdict::kContinue;
  Commit(now);
  const TimePoint answered_for =
      std::max({began_at_, rest_.awake_since(), contact_.MajorityAnsweredFor()});
  const Duration patience = is_by_hand_ ? options_.by_hand_wait_max
                                        : kDeafTimeouts * options_.election_timeout +
                                              kAnswerStores * store_time_.typical(now);
  if (now > AddSaturated(answered_for, patience)) return Verdict::kStepDown;
  ExpelSlow(now);
  Admit(now);
  const Verdict verdict = MaintainHandOver(now);
  if (verdict == Verdict::kContinue) SendEntries(now);
  return verdict;
}

void Leadership::HeartbeatIfDue(TimePoint now) {
  if (now < heartbeat_at_) return;
  if (rest_.is_offering() && IsSettled() && AllLetRest(rest_.offered_at())) {
    heartbeat_at_ = rest_.Rest(now);
    return;
  }
  if (rest_.is_resting()) Wake(/*is_activity=*/false, now);
  Heartbeat(now);
}

void Leadership::Wake(bool is_activity, TimePoint now) {
  if (is_activity) rest_.NoteActivity(now);
  if (rest_.is_awake()) return;
  if (rest_.is_resting()) contact_.Refresh(rest_.offered_at(), now);
  rest_.Wake(now);
  heartbeat_at_ = now;
}

bool Leadership::MayRest(TimePoint now) const {
  return IsSettled() && rest_.IsIdle(now) && AllLetRest(rest_.active_at());
}

bool Leadership::IsSettled() const {
  const bool is_committed = log_.committed() == log_.last_lsn() && log_.stored() == log_.last_lsn();
  return is_committed && !is_by_hand_ && !hand_over_.successor();
}

// A member that is away, and that no write waits for, is not asked: the news that its node is heard
// wakes the primary. One that is to lead instead must become the primary first.
bool Leadership::AllLetRest(TimePoint since) const {
  MemberSet resting = MemberSet().With(group_.self);
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (member == group_.self) continue;
    const bool is_away = !live_.contains(member) && !log_.write_set().contains(member);
    if (is_away) continue;
    const bool is_preferred = member < group_.self && !group_.IsWitness(member);
    if (is_preferred || !LetsRest(member, since)) return false;
    resting = resting.With(member);
  }
  return resting.size() >= group_.majority() && !group_.IsWitness(group_.self);
}

bool Leadership::LetsRest(MemberIndex member, TimePoint since) const {
  const bool has_answered = contact_.answered_for(member) >= since;
  if (!has_answered || !contact_.rests(member) || !contact_.counts(member)) return false;
  if (!live_.contains(member)) return false;
  if (!group_.IsWitness(member) && !log_.write_set().contains(member)) return false;
  return !IsFed(member) || progress_[member].matched() == log_.last_lsn();
}

void Leadership::Heartbeat(TimePoint now) {
  rest_.NoteHeartbeat(MayRest(now), now);
  heartbeat_at_ = now + options_.heartbeat_interval;
  for (MemberIndex to = 0; to < group_.size(); ++to) {
    if (to != group_.self) SendAppend(to, now);
  }
}

// A participating witness outside of the write set gets heartbeats but no entries.
bool Leadership::IsFed(MemberIndex member) const {
  return !group_.IsWitness(member) || log_.write_set().contains(member) || !contact_.counts(member);
}

void Leadership::SendEntries(TimePoint now) {
  for (MemberIndex to = 0; to < group_.size(); ++to) {
    if (to == group_.self || !IsFed(to)) continue;
    if (progress_[to].HasWork(log_.last_lsn(), now)) SendAppend(to, now);
  }
}

TimePoint Leadership::FollowAt() const {
  TimePoint next = kNever;
  for (MemberIndex to = 0; to < group_.size(); ++to) {
    if (to == group_.self || !IsFed(to)) continue;
    next = std::min(next, progress_[to].FollowAt(log_.last_lsn()));
  }
  return next;
}

TimePoint Leadership::NextEvent() const {
  return std::min({heartbeat_at_, hand_over_.ends_at(), FollowAt()});
}

void Leadership::SendBehind(MemberIndex to, TimePoint now) {
  ReplicaMessage message = outbox_.Make(ReplicaMessageKind::kBehind, to, epoch_);
  message.prev_lsn = log_.base().lsn;
  message.prev_epoch = log_.base().epoch;
  message.write_set = log_.WriteSetAt(log_.base().lsn);
  message.last_lsn = log_.last_lsn();
  message.primary_stamp = StampOf(now);
  message.by_hand = is_by_hand_;
  outbox_.SendAtOnce(to, std::move(message));
}

void Leadership::SendAppend(MemberIndex to, TimePoint now) {
  if (!outbox_.Knows(to)) return;
  const PeerProgress::Sending sending =
      progress_[to].Send({.base = log_.base().lsn, .last = log_.last_lsn()}, IsFed(to),
                         kResendHeartbeats * options_.heartbeat_interval, now);
  if (sending.is_behind) return SendBehind(to, now);
  ReplicaMessage message = outbox_.Make(ReplicaMessageKind::kAppend, to, epoch_);
  message.prev_lsn = sending.prev;
  message.prev_epoch = *log_.EpochAt(sending.prev);
  message.last_lsn = log_.last_lsn();
  message.committed = log_.committed();
  message.primary_stamp = StampOf(now);
  message.member_stamp = contact_.member_stamp(to);
  message.yes = now < leased_until();
  message.rests = rest_.is_offering();
  message.by_hand = is_by_hand_;
  outbox_.SendAtOnce(to, std::move(message), sending.entries_to);
}

StoredPositions Leadership::Stored() const {
  StoredPositions stored;
  stored.last = log_.last_lsn();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (contact_.counts(member)) stored.by_member[member] = progress_[member].matched();
  }
  stored.by_member[group_.self] = log_.stored();
  return stored;
}

void Leadership::Commit(TimePoint now) {
  const Lsn all = Stored().LowestOf(log_.write_set());
  // Entries of earlier primaries are committed with the first entry of this epoch.
  if (all <= log_.committed() || log_.EpochAt(all) != epoch_) return;
  log_.Commit(all);
  is_by_hand_ = false;
  heartbeat_at_ = std::min(heartbeat_at_, now + kCommitNewsDelay);
}

void Leadership::AppendWriteSet(MemberSet members, TimePoint now) {
  membership_.Change(log_.write_set(), members, now);
  log_.AppendWriteSet(members, epoch_);
}

void Leadership::ExpelSlow(TimePoint now) {
  const Duration silence_max = options_.election_timeout + kAnswerStores * store_time_.typical(now);
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (member == group_.self || !log_.write_set().contains(member)) continue;
    const bool is_silent = contact_.SilenceOf(member, now) > silence_max;
    if (!is_silent && !membership_.IsOverBudget(member)) continue;
    const auto rest = membership_.Expel(member, log_.write_set(), contact_, now);
    if (rest) AppendWriteSet(*rest, now);
  }
}

void Leadership::Admit(TimePoint now) {
  MemberSet keeping_up;
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (progress_[member].keeps_up()) keeping_up = keeping_up.With(member);
  }
  MemberSet members = membership_.WithReturning(log_.write_set(), keeping_up, contact_, now);
  // A primary must commit its first entry before it removes a witness from the set.
  if (log_.committed() >= first_of_epoch_) members = membership_.WithoutNeedlessWitness(members);
  if (members != log_.write_set()) AppendWriteSet(members, now);
}

HandOver::Candidates Leadership::SuccessorCandidates(TimePoint now) const {
  HandOver::Candidates candidates;
  // It leads worse than any other member, with room or not.
  const bool is_unfit = group_.IsWitness(group_.self) || membership_.IsOverBudget(group_.self);
  candidates.must_go = is_unfit || !has_room_;
  // No member is preferred to the first.
  if (group_.self == 0 && !candidates.must_go) return candidates;
  HandOver::Candidates without_room;
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (member == group_.self || group_.IsWitness(member)) continue;
    if (without_data_.contains(member)) continue;  // or does not know yet what is committed
    if (!membership_.IsHeard(member, contact_, now) || !log_.write_set().contains(member)) continue;
    if (progress_[member].matched() < log_.committed()) continue;
    HandOver::Candidates& kind = without_room_.contains(member) ? without_room : candidates;
    kind.able = kind.able.With(member);
    if (membership_.TimeInSet(member, now) >= options_.hand_over_delay) {
      kind.settled = kind.settled.With(member);
    }
  }
  if (is_unfit && candidates.able.size() == 0) candidates.able = without_room.able;
  return candidates;
}

Leadership::Verdict Leadership::MaintainHandOver(TimePoint now) {
  if (hand_over_.MaySearch(now)) hand_over_.Search(SuccessorCandidates(now), now);
  const std::optional<MemberIndex> successor = hand_over_.successor();
  if (!successor) return Verdict::kContinue;
  if (now >= hand_over_.ends_at()) {
    membership_.Forgive(group_.self);
    return hand_over_.GiveUp(now) ? Verdict::kReclaim : Verdict::kContinue;
  }
  if (hand_over_.was_offered() || progress_[*successor].matched() < log_.last_lsn()) {
    return Verdict::kContinue;
  }
  ReplicaMessage message = outbox_.Make(ReplicaMessageKind::kTakeOver, *successor, epoch_);
  message.last_lsn = log_.last_lsn();
  message.primary_stamp = StampOf(now);
  hand_over_.NoteOffered();
  outbox_.SendAtOnce(*successor, std::move(message));
  return Verdict::kContinue;
}

TimePoint Leadership::leased_until() const {
  if (hand_over_.was_offered()) return TimePoint::min();
  // Before that, there may be committed writes that this primary does not know to be committed.
  if (log_.executable() < first_of_epoch_) return TimePoint::min();
  const TimePoint answered_for = contact_.MajorityAnsweredFor();
  if (answered_for == TimePoint::min()) return answered_for;
  return AddSaturated(answered_for, options_.lease_duration);
}

Lsn Leadership::needed_from() const {
  Lsn needed = log_.last_lsn();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (member != group_.self && !group_.IsWitness(member)) {
      needed = std::min(needed, progress_[member].matched());
    }
  }
  return needed + 1;
}

Lsn Leadership::NeededByPresent(TimePoint now) const {
  const Duration silence_max = options_.election_timeout + kAnswerStores * store_time_.typical(now);
  Lsn needed = log_.last_lsn();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (member == group_.self || group_.IsWitness(member)) continue;
    const Lsn matched = progress_[member].matched();
    const bool is_reached = matched >= log_.base().lsn;  // others need a snapshot
    if (is_reached && contact_.SilenceOf(member, now) <= silence_max) {
      needed = std::min(needed, matched);
    }
  }
  return needed + 1;
}

}  // namespace neptune
