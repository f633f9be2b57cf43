// The messages that an ordered replica is about to send, and the incarnations by which members
// detect each other's restarts.
//
// A message names the incarnations of its sender and its receiver, so that what was addressed to an
// earlier life of a member is dropped.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include <cstdint>
#include <vector>

#include "neptune/replication/protocol/member_log.h"
#include "neptune/replication/protocol/protocol_actions.h"
#include "neptune/replication/protocol/replica_group.h"

namespace neptune {

class ReplicaOutbox {
 public:
  // `incarnation` differs from every earlier one of this member and is not 0. `group` must outlive
  // this object.
  ReplicaOutbox(const ReplicaGroup& group, uint64_t incarnation)
      : group_(group), incarnation_(incarnation), peers_(group.members.size()) {}

  // True if the message may be handled: it is from another member, and a hello or addressed to this
  // incarnation.
  bool IsForThis(MemberIndex from, const ReplicaMessage& message) const;
  // Notes the sender's incarnation. True if it is a new one: the member has started since.
  bool Meet(MemberIndex from, uint64_t incarnation);
  // True if the member has been heard.
  bool Knows(MemberIndex member) const { return peers_[member] != 0; }

  ReplicaMessage Make(ReplicaMessageKind kind, MemberIndex to, Epoch epoch) const;
  // Sends with the entries (message.prev_lsn, entries_to], or the longest prefix that fits.
  void SendAtOnce(MemberIndex to, ReplicaMessage message, Lsn entries_to = 0);
  void SendAfterStored(MemberIndex to, ReplicaMessage message);
  // Asks for another member's data.
  void RequestRestore(MemberIndex from) { actions_.restore_from = from; }

  // Returns all of this, with the changes of `log` that are not stored yet.
  ProtocolActions Drain(MemberLog& log);

 private:
  const ReplicaGroup& group_;
  const uint64_t incarnation_;
  std::vector<uint64_t> peers_;  // incarnation of each member; 0: not heard yet
  ProtocolActions actions_;
};

}  // namespace neptune
