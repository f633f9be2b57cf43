// The default replication protocol: at most one primary per epoch commits writes, although nodes
// crash, hang, are partitioned and lose their disks.
//
// An epoch is the term of one primary. Every member promises to reject smaller epochs. A primary is
// elected by a majority of the configured members, the witness included, none of which has a newer
// log. A write is committed when all members of the write set have stored it; the write set is at
// least a majority. So every elected primary has all committed writes, and a primary that is cut
// off commits nothing. Only committed writes are executed, so nothing is ever undone.
//
//   kBlank ──all members are blank──► kSecondary ──silence──► kCandidate ──majority──► kPrimary
//     │                                 ▲   ▲                     │                       │
//     └──some are not───► kRecovering ──┘   └─── a larger epoch, or no majority answers ──┘
//
// Elections: the preferred member has the shortest timeout. A trial (pre-vote) comes first, so a
//   member that is cut off does not raise the epoch, and a member that heard a primary recently
//   does not vote. When a preferred member is back and has caught up, the primary hands over: it
//   accepts no writes for at most hand_over_max, and its successor is elected at once.
// Write set: a member that delays writes which all others have stored uses up its budget
//   (hold_up_max) and is removed by a log entry. It returns once it has caught up, answers as
//   quickly as the others, and has waited for a delay that doubles each time. The set never becomes
//   smaller than a majority.
// Lost disks: a member with an empty store may have promised and stored things before. It takes
//   part only if all members are blank too (a new partition), or once it has heard a majority of
//   the others and has caught up with a primary whose epoch is at least any that they had promised.
//   A message names the incarnation of its receiver.
// Start by hand: if too many disks are lost for an election, an operator starts the partition from
//   one member's log. Once that member has stored its promise, it is the primary of an epoch far
//   above any that may have been promised. Blank and recovering members accept its word in place of
//   a majority's. It needs a majority to commit too, and a member that knows more to be committed
//   than it has does not follow it.
// Slow disks: timeouts grow with the time that this member's disk takes. A member whose disk takes
//   longer than a heartbeat answers each append twice: at once with what it has stored already, so
//   that the primary knows that it is heard, and again once the append is stored.
// Rest: the primary of an idle partition stops its heartbeats, if all members agree and their nodes
//   are heard by other means (primary_rest.h).
// Full disks: a primary whose disk has no room for writes hands over to a member whose disk has
//   room, and a preferred member without room is not handed the place. If no disk has room, the
//   primary stays, for reads.
// Leases: a primary that a majority has answered is the only one for lease_duration from the time
//   it asked; members do not vote during that time, except for a successor that the primary chose,
//   after which the primary no longer relies on its lease.
//
// The parts are objects of their own: Recovery (the start of a member), Election (promises and
// votes), Leadership (the primary's work). This class decides the role and hands messages to them.
//
// Source: [Shen02] 5.2.2 for priorities and for waiting for all.
// Departs from source: the paper assumes fail-stop nodes, and its primary waits for a silent member
//   until a timeout.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Units: times are TimePoint of the member's own monotonic clock; no two clocks are compared.
// Limits: kMemberCountMax members.

#pragma once

#include <optional>

#include "neptune/replication/protocol/member_log.h"
#include "neptune/replication/protocol/replica_group.h"
#include "neptune/replication/protocol/replica_outbox.h"
#include "neptune/replication/protocol/replication_protocol.h"
#include "neptune/replication/protocol/safe/election.h"
#include "neptune/replication/protocol/safe/leadership.h"
#include "neptune/replication/protocol/safe/member_rest.h"
#include "neptune/replication/protocol/safe/recovery.h"
#include "neptune/replication/protocol/safe/safe_options.h"
#include "neptune/replication/protocol/safe/store_time.h"

namespace neptune {

class SafeReplica final : public ReplicationProtocol {
 public:
  // `found` is the outline of the member's log; `incarnation` differs from every earlier one of
  // this member; `seed` randomizes election timeouts.
  SafeReplica(ReplicaGroup group, const SafeReplicaOptions& options, const LogOutline& found,
              uint64_t incarnation, uint64_t seed, TimePoint now);

  void Handle(ProtocolEvent event, TimePoint now) override;
  TimePoint NextEvent() const override;
  StatusOr<Lsn> Propose(LogEntry write, TimePoint now) override;
  // Errors, all kFailedPrecondition: a witness; a member that lost its promises; a primary is
  // alive, or was recently.
  Status StartByHand(TimePoint now) override;
  ProtocolActions DrainActions() override;
  ReplicaStatus status() const override;
  std::optional<SnapshotMark> MarkOf(Lsn last_write, Lsn log_base) const override;
  // A primary keeps the entries that members lack unless the log is too large; those members then
  // need a snapshot.
  Lsn LastDroppable(Lsn wanted, LogPressure pressure, TimePoint now) override;

 private:
  void Receive(MemberIndex from, ReplicaMessage& message, TimePoint now);
  void PassTime(TimePoint now);
  void NoteStored(const ChangeStored& stored, TimePoint now);
  void NoteRestored(const SnapshotMark& mark, TimePoint now);

  void HandleHello(MemberIndex from);
  void HandleHelloAnswer(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleAppend(MemberIndex from, ReplicaMessage& message, TimePoint now);
  // Says at once that this member hears the primary, and what it has stored. REQUIRES: its promise
  // is stored.
  void AnswerOnSlowDisk(MemberIndex from, const ReplicaMessage& answer);
  void HandleBehind(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleAppendAnswer(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleAskVote(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleVote(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleTakeOver(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  // True if the sender is the primary of this member's epoch, or of a larger one, which it adopts.
  bool Follow(MemberIndex from, const ReplicaMessage& message, TimePoint now);

  bool is_primary() const { return role_ == ReplicaRole::kPrimary; }
  void TakePart(TimePoint now);
  void AskForVotes(const Election::Candidacy& candidacy, TimePoint now);
  void BecomeSecondary(TimePoint now);
  void BecomePrimary(TimePoint now);
  void Lead(TimePoint now);

  const ReplicaGroup group_;
  const SafeReplicaOptions options_;
  MemberLog log_;
  ReplicaOutbox outbox_;
  StoreTime store_time_;
  Election election_;
  MemberRest rest_;
  Recovery recovery_;
  Leadership leadership_;

  bool has_room_ = true;
  ReplicaRole role_ = ReplicaRole::kSecondary;
  std::optional<MemberIndex> primary_;
};

}  // namespace neptune
