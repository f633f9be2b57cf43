// The work of a primary during its epoch: sending its log, committing, keeping the write set
// healthy, handing its place over.
//
//   Begin ──► Propose, Record ──► Lead: commit · step down if no majority answers · expel and admit
//                                       members · hand over · send
//
// Parts: PeerProgress (what each member lacks), QuorumContact (who answers; the lease),
// WriteSetMembership (the members that writes wait for), HandOver (the successor), PrimaryRest
// (heartbeats of an idle partition).
//
// Invariants: only entries of this epoch are committed directly, and earlier ones with them; the
// write set is at least a majority; the lease ends when the place is offered to a successor.
//
// No I/O, no clock, no threads.
// Threads: thread-compatible.

#pragma once

#include <algorithm>
#include <vector>

#include "neptune/base/status.h"
#include "neptune/replication/protocol/member_log.h"
#include "neptune/replication/protocol/replica_group.h"
#include "neptune/replication/protocol/replica_outbox.h"
#include "neptune/replication/protocol/safe/hand_over.h"
#include "neptune/replication/protocol/safe/peer_progress.h"
#include "neptune/replication/protocol/safe/primary_rest.h"
#include "neptune/replication/protocol/safe/quorum_contact.h"
#include "neptune/replication/protocol/safe/safe_options.h"
#include "neptune/replication/protocol/safe/store_time.h"
#include "neptune/replication/protocol/safe/write_set_membership.h"

namespace neptune {

class Leadership {
 public:
  // All arguments must outlive this object.
  Leadership(const ReplicaGroup& group, const SafeReplicaOptions& options, MemberLog& log,
             ReplicaOutbox& outbox, const StoreTime& store_time);

  // This member has become the primary of the epoch, elected by `votes`.
  void Begin(Epoch epoch, MemberSet votes, TimePoint now);
  // This member is no longer the primary.
  void End();
  // Marks the term as started manually. The mark is cleared at its first commit.
  void MarkByHand() { is_by_hand_ = true; }
  // Whether this member's disk has room for writes. May be called at any time.
  void NoteRoom(bool has_room) { has_room_ = has_room; }
  // The member has restarted. May be called at any time; the calls below only during a term.
  void Forget(MemberIndex member, TimePoint now);

  // Charges members for delayed writes. Must be called before each event is handled.
  void CountHoldUps(TimePoint now);
  // Errors: kUnavailable handing over; kResourceExhausted too many uncommitted writes.
  StatusOr<Lsn> Propose(LogEntry write, TimePoint now);
  // Takes the answer to an append of this epoch; ignores an impossible one.
  void Record(MemberIndex from, const ReplicaMessage& answer, TimePoint now);
  void NoteUnreachable(MemberIndex member, TimePoint now);
  void HeartbeatIfDue(TimePoint now);
  // The members whose nodes are heard; see PeerNews. May be called at any time.
  void NoteLive(MemberSet live) { live_ = live; }
  // Ends a rest: heartbeats are sent from now on. `is_activity`: it does not rest again at once.
  void Wake(bool is_activity, TimePoint now);
  // Draws the conclusions from what has happened. Must be called after each event.
  enum class Verdict {
    kContinue,
    kStepDown,  // no majority has answered for too long
    // The successor may still be elected at any time: only a larger epoch makes this member the
    // only primary again.
    kReclaim,
  };
  Verdict Lead(TimePoint now);

  TimePoint NextEvent() const;
  // Until then no other primary can have been elected; TimePoint::min(): no lease.
  TimePoint leased_until() const;
  bool rests() const { return rest_.is_resting(); }
  // Every member with data has the entries before this one.
  Lsn needed_from() const;
  // Every member with data that answers, and that the log still reaches, has the entries before
  // this one.
  Lsn NeededByPresent(TimePoint now) const;

 private:
  void Heartbeat(TimePoint now);
  bool MayRest(TimePoint now) const;
  // True if nothing is under way in the partition.
  bool IsSettled() const;
  // True if every member has answered a heartbeat since then, has everything, and lets this one
  // rest.
  bool AllLetRest(TimePoint since) const;
  bool LetsRest(MemberIndex member, TimePoint since) const;
  void SendAppend(MemberIndex to, TimePoint now);
  void SendBehind(MemberIndex to, TimePoint now);
  void SendEntries(TimePoint now);
  // When more entries may be sent without an answer to the last ones.
  TimePoint FollowAt() const;
  bool IsFed(MemberIndex member) const;
  void AppendWriteSet(MemberSet members, TimePoint now);
  StoredPositions Stored() const;
  void Commit(TimePoint now);
  void ExpelSlow(TimePoint now);
  void Admit(TimePoint now);
  HandOver::Candidates SuccessorCandidates(TimePoint now) const;
  Verdict MaintainHandOver(TimePoint now);

  const ReplicaGroup& group_;
  const SafeReplicaOptions& options_;
  MemberLog& log_;
  ReplicaOutbox& outbox_;
  const StoreTime& store_time_;

  std::vector<PeerProgress> progress_;
  QuorumContact contact_;
  WriteSetMembership membership_;
  HandOver hand_over_;
  PrimaryRest rest_;

  Epoch epoch_ = 0;
  TimePoint began_at_{};
  Lsn first_of_epoch_ = 0;
  TimePoint heartbeat_at_ = kNever;
  bool is_by_hand_ = false;
  MemberSet live_;
  // Members that know of nothing committed in data of their own, by their last answers.
  MemberSet without_data_;
  // This member's disk has room for writes; the members whose disks have none, by the same answers.
  bool has_room_ = true;
  MemberSet without_room_;
};

}  // namespace neptune
