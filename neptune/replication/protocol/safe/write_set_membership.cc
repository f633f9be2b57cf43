#include "neptune/replication/protocol/safe/write_set_membership.h"

#include <algorithm>
#include <utility>

namespace neptune {
namespace {

// held_up decreases by 1 / kForgivenShare of the time that passes.
constexpr int kForgivenShare = 10;
// Time in the write set after which the return delay is reset.
constexpr Duration kGoodConduct = std::chrono::minutes(1);
// A member may take this many times the answer time of the quickest majority.
constexpr int kPatience = 5;

}  // namespace

Lsn StoredPositions::LowestOf(MemberSet members) const {
  Lsn lowest = last;
  for (MemberIndex member = 0; member < by_member.size(); ++member) {
    if (members.contains(member)) lowest = std::min(lowest, by_member[member]);
  }
  return lowest;
}

void WriteSetMembership::Begin(TimePoint now) {
  counted_at_ = now;
  for (Peer& peer : peers_) {
    peer = Peer{.in_set_since = now, .may_return = now, .return_delay = peer.return_delay};
  }
}

void WriteSetMembership::Change(MemberSet before, MemberSet members, TimePoint now) {
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    Peer& peer = peers_[member];
    if (members.contains(member) && !before.contains(member)) peer.in_set_since = now;
    // The smaller set could not do without its members, so their delays do not count.
    if (members.size() > before.size()) peer.held_up = Duration{0};
  }
}

void WriteSetMembership::CountHoldUps(MemberSet members, const StoredPositions& stored,
                                      const QuorumContact& contact, TimePoint now) {
  const Duration passed = now - counted_at_;
  const TimePoint last_counted = std::exchange(counted_at_, now);
  const Duration patience = Patience(contact);
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (!members.contains(member)) continue;
    Peer& peer = peers_[member];
    if (peer.awaited != 0) {
      const TimePoint from = std::max(last_counted, peer.awaited_since + patience);
      peer.held_up += std::max(Duration{0}, now - from);
    }
    peer.held_up = std::max(Duration{0}, peer.held_up - passed / kForgivenShare);
    Await(peer, stored.by_member[member], stored.LowestOf(members.Without(member)), now);
  }
}

// Time that a member may take.
Duration WriteSetMembership::Patience(const QuorumContact& contact) const {
  return std::max(options_.answer_time_max,
                  std::min(contact.MajorityAnswerTime(), options_.election_timeout) * kPatience);
}

// Starts the clock for the oldest entries that all others have stored and this member has not.
void WriteSetMembership::Await(Peer& peer, Lsn stored, Lsn others, TimePoint now) {
  if (peer.awaited != 0 && stored < peer.awaited) return;
  peer.awaited = stored < others ? others : 0;
  peer.awaited_since = now;
}

std::optional<MemberSet> WriteSetMembership::Expel(MemberIndex member, MemberSet members,
                                                   const QuorumContact& contact, TimePoint now) {
  MemberSet rest = members.Without(member);
  for (MemberIndex witness = 0; witness < group_.size(); ++witness) {
    if (rest.size() >= group_.majority()) break;
    if (group_.IsWitness(witness) && witness != member && IsHeard(witness, contact, now)) {
      rest = rest.With(witness);
    }
  }
  if (rest.size() < group_.majority()) return std::nullopt;
  Peer& peer = peers_[member];
  const bool behaved = now - peer.in_set_since > kGoodConduct || peer.return_delay == Duration{0};
  peer.return_delay =
      behaved ? options_.return_delay : std::min(2 * peer.return_delay, options_.return_delay_max);
  peer.may_return = now + peer.return_delay;
  peer.held_up = Duration{0};
  return rest;
}

MemberSet WriteSetMembership::WithReturning(MemberSet members, MemberSet keeping_up,
                                            const QuorumContact& contact, TimePoint now) const {
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (members.contains(member) || group_.IsWitness(member)) continue;
    if (!keeping_up.contains(member) || now < peers_[member].may_return) continue;
    if (!IsHeard(member, contact, now)) continue;
    if (contact.SilenceOf(member, now) > 2 * options_.heartbeat_interval) continue;
    if (contact.answer_time(member) <= Patience(contact)) members = members.With(member);
  }
  return members;
}

MemberSet WriteSetMembership::WithoutNeedlessWitness(MemberSet members) const {
  MemberSet with_data = members;
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    if (group_.IsWitness(member) && member != group_.self) with_data = with_data.Without(member);
  }
  return with_data.size() >= group_.majority() ? with_data : members;
}

}  // namespace neptune
