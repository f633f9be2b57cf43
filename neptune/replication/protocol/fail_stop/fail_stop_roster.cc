#include "neptune/replication/protocol/fail_stop/fail_stop_roster.h"

#include <algorithm>

namespace neptune {

void FailStopRoster::Hear(MemberIndex from, Epoch epoch, TimePoint now) {
  Peer& peer = peers_[from];
  peer.is_known = true;
  peer.announced_at = now;
  peer.epoch = std::max(peer.epoch, epoch);
}

bool FailStopRoster::lives(MemberIndex member, TimePoint now) const {
  if (member == group_.self) return true;
  const Peer& peer = peers_[member];
  return may_live_.contains(member) && peer.is_known && now - peer.announced_at < failure_timeout_;
}

// In a new partition the most preferred member starts, and the others recover from it.
bool FailStopRoster::AllAreBlank() const {
  if (group_.self != 0) return false;
  for (MemberIndex member = 1; member < group_.size(); ++member) {
    if (!peers_[member].was_blank) return false;
  }
  return true;
}

bool FailStopRoster::IsPreferred(TimePoint now) const {
  for (MemberIndex member = 0; member < group_.self; ++member) {
    if (peers_[member].is_operational && lives(member, now) && !group_.IsWitness(member))
      return false;
  }
  return !group_.IsWitness(group_.self);
}

Epoch FailStopRoster::NextEpoch(Epoch promised) const {
  Epoch largest = promised;
  for (const Peer& peer : peers_) largest = std::max(largest, peer.epoch);
  return (largest / kMemberCountMax + 1) * kMemberCountMax + (kMemberCountMax - 1 - group_.self);
}

}  // namespace neptune
