#include "neptune/replication/protocol/fail_stop/fail_stop_primary.h"

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

// A member that lacks at most this many entries joins the write set; writes then wait for it.
constexpr Lsn kAdmissionLag = 64;

}  // namespace

FailStopPrimary::FailStopPrimary(const ReplicaGroup& group, const FailStopReplicaOptions& options,
                                 MemberLog& log, ReplicaOutbox& outbox,
                                 const FailStopRoster& roster)
    : group_(group),
      options_(options),
      log_(log),
      outbox_(outbox),
      roster_(roster),
      peers_(group.members.size()) {}

void FailStopPrimary::Begin(Epoch epoch, TimePoint now) {
  MemberSet members = MemberSet().With(group_.self);
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    Peer& peer = peers_[member];
    peer.matched = 0;
    peer.next = log_.last_lsn() + 1;
    peer.resend_at = now;
    peer.sent_committed = 0;
    peer.progress_at = now;
    peer.admitted = 0;
    const bool takes_part = roster_.is_operational(member) && roster_.lives(member, now);
    if (member == group_.self || !takes_part) continue;
    members = members.With(member);
    peer.admitted = log_.last_lsn() + 1;
  }
  epoch_begin_ = log_.last_lsn() + 1;
  log_.AppendWriteSet(members, epoch);
}

void FailStopPrimary::Forget(MemberIndex member) {
  peers_[member] = Peer();
  peers_[member].next = log_.last_lsn() + 1;
}

void FailStopPrimary::OweAll() {
  for (Peer& peer : peers_) peer.is_owed = true;
}

Status FailStopPrimary::Append(LogEntry write, Epoch epoch) {
  if (log_.last_lsn() - log_.committed() >= options_.uncommitted_count_max) {
    return ResourceExhausted(options_.uncommitted_count_max, " writes are not committed");
  }
  write.kind = EntryKind::kWrite;
  write.lsn = log_.last_lsn() + 1;
  write.epoch = epoch;
  log_.Append(std::move(write));
  return OkStatus();
}

void FailStopPrimary::Record(MemberIndex from, const ReplicaMessage& answer, TimePoint now) {
  if (answer.matched > log_.last_lsn()) return;
  Peer& peer = peers_[from];
  peer.resend_at = now;
  peer.member_stamp = std::max(peer.member_stamp, answer.member_stamp);
  if (answer.yes) {
    if (answer.matched > peer.matched) peer.progress_at = now;
    peer.matched = std::max(peer.matched, answer.matched);
    peer.next = peer.matched + 1;
  } else {
    peer.next = std::max(peer.matched, std::min(answer.matched, peer.next - 1)) + 1;
  }
}

void FailStopPrimary::Serve(Epoch epoch, TimePoint now) {
  MaintainWriteSet(epoch, now);
  Commit();
  for (MemberIndex to = 0; to < group_.size(); ++to) {
    if (to != group_.self) SendAppend(to, epoch, is_leased(), now);
  }
}

void FailStopPrimary::MaintainWriteSet(Epoch epoch, TimePoint now) {
  MemberSet members = log_.write_set();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    Peer& peer = peers_[member];
    if (member == group_.self || group_.IsWitness(member)) continue;
    if (peer.matched == log_.last_lsn()) peer.progress_at = now;
    const bool is_late = now - peer.progress_at >= options_.acknowledge_timeout;
    const bool is_gone = !roster_.lives(member, now) || (peer.admitted != 0 && is_late);
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
  if (members != log_.write_set()) log_.AppendWriteSet(members, epoch);
}

void FailStopPrimary::Commit() {
  Lsn committed = log_.stored();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (member == group_.self || !log_.write_set().contains(member)) continue;
    committed = std::min(committed, peers_[member].matched);
  }
  log_.Commit(committed);
}

void FailStopPrimary::SendAppend(MemberIndex to, Epoch epoch, bool is_leased, TimePoint now) {
  Peer& peer = peers_[to];
  const bool is_due = now >= peer.resend_at;
  const bool has_news =
      peer.next <= log_.last_lsn() || log_.committed() > peer.sent_committed || peer.is_owed;
  if (!roster_.lives(to, now) || !is_due || !has_news) return;
  const Lsn prev = peer.next - 1;
  const std::optional<Epoch> prev_epoch = log_.EpochAt(prev);
  ReplicaMessage message = outbox_.Make(
      prev_epoch ? ReplicaMessageKind::kAppend : ReplicaMessageKind::kBehind, to, epoch);
  message.prev_lsn = prev_epoch ? prev : log_.base().lsn;
  message.prev_epoch = prev_epoch ? *prev_epoch : log_.base().epoch;
  message.write_set = log_.WriteSetAt(message.prev_lsn);
  message.last_lsn = log_.last_lsn();
  message.committed = log_.committed();
  message.matched = peer.admitted;
  message.member_stamp = peer.member_stamp;
  message.yes = is_leased;
  peer.resend_at = now + 2 * options_.announcement_interval;
  peer.sent_committed = log_.committed();
  peer.is_owed = false;
  outbox_.SendAtOnce(to, std::move(message), prev_epoch ? log_.last_lsn() : 0);
}

void FailStopPrimary::HandOver(MemberIndex to, Epoch epoch, TimePoint now) {
  Peer& peer = peers_[to];
  if (peer.matched < log_.last_lsn() || log_.stored() < log_.last_lsn()) {
    return SendAppend(to, epoch, /*is_leased=*/false, now);
  }
  if (now < peer.resend_at) return;
  peer.resend_at = now + 2 * options_.announcement_interval;
  ReplicaMessage message = outbox_.Make(ReplicaMessageKind::kTakeOver, to, epoch);
  message.last_lsn = log_.last_lsn();
  outbox_.SendAtOnce(to, std::move(message));
}

Lsn FailStopPrimary::needed_from() const {
  Lsn matched = log_.stored();
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (member == group_.self || !log_.write_set().contains(member)) continue;
    matched = std::min(matched, peers_[member].matched);
  }
  return matched + 1;
}

}  // namespace neptune
