#include "neptune/replication/protocol/safe/quorum_contact.h"

#include <algorithm>
#include <array>
#include <functional>

namespace neptune {
namespace {

// Inverse weight of a new answer time in the moving average.
constexpr int kAnswerTimeWeight = 8;

}  // namespace

void QuorumContact::Begin(TimePoint now) {
  for (Peer& peer : peers_) peer = Peer{.answered_at = now};
}

void QuorumContact::Record(MemberIndex from, const ReplicaMessage& answer, TimePoint sent_at,
                           TimePoint now) {
  Peer& peer = peers_[from];
  peer.counts = answer.counts;
  peer.rests = answer.rests;
  peer.answered_at = now;
  peer.member_stamp = std::max(peer.member_stamp, answer.member_stamp);
  peer.answered_for = std::max(peer.answered_for, sent_at);
  const bool is_early = answer.matched < answer.last_lsn;  // see SafeReplica::AnswerOnSlowDisk
  if (is_early || sent_at <= peer.stored_for) return;
  peer.stored_for = sent_at;
  const Duration took = now - sent_at;
  peer.answer_time +=
      (took - peer.answer_time) / (peer.answer_time == Duration{0} ? 1 : kAnswerTimeWeight);
}

void QuorumContact::Refresh(TimePoint sent_at, TimePoint now) {
  for (Peer& peer : peers_) {
    if (peer.answered_for >= sent_at) peer.answered_at = now;
  }
}

Duration QuorumContact::MajorityAnswerTime() const {
  std::array<Duration, kMemberCountMax> times;
  for (MemberIndex member = 0; member < group_.size(); ++member) {
    const Peer& peer = peers_[member];
    times[member] = member == group_.self || peer.counts ? peer.answer_time : Duration::max();
  }
  std::sort(times.begin(), times.begin() + group_.size());
  return times[group_.majority() - 1];
}

TimePoint QuorumContact::MajorityAnsweredFor() const {
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

}  // namespace neptune
