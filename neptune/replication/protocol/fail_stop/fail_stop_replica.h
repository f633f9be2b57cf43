// The paper's replication protocol, for fail-stop nodes and a network that always delivers.
//
//   kRecovering ──caught up with the primary──► kSecondary ──primary stopped, no more──► kCandidate
//      │                                          ▲          preferred member alive          │
//      │                                          └─── deposed ─── kPrimary ◄─ all alive ────┘
//      │                                                              ▲         agree
//      └── more preferred than the primary, which stops writes ───────┘
//          and hands over everything
//
// Members announce themselves; one that is silent for failure_timeout counts as stopped. The most
// preferred member that is alive and has not been away is elected by all that are alive (the Bully
// Algorithm with a priority per partition). A write is committed when every member of the write set
// has stored it; a member that does not acknowledge for acknowledge_timeout counts as stopped and
// must recover. A member that starts:
//   1. compares its log with its data: CHECK returns what is executed, which is committed;
//   2. announces itself. The primary lets a less preferred member catch up while writes continue.
//      For a more preferred one it stops taking writes at once, sends everything it has, and is
//      then bullied into a secondary;
//   3. takes part again with the log entry that adds it to the write set.
// After all members have stopped, none starts by itself: the operator calls StartByHand on the
// member with the newest version.
//
// The protocol is safe only while its assumptions hold: a primary that is cut off or pauses counts
// as stopped, and its writes may be lost. Use SafeReplica otherwise.
//
// Source: [Shen02] 5.1.1, 5.2.2.
// Departs from source: a write that was not completed before a failure is not reissued from the
//   member's own log; the primary's log decides whether it is kept or dropped. After StartByHand
//   the whole log counts as committed. A new partition starts by itself once all members are
//   present; a partition with one member always does.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Units: times are TimePoint of the member's own monotonic clock; no two clocks are compared.

#pragma once

#include <optional>

#include "neptune/replication/protocol/fail_stop/fail_stop_options.h"
#include "neptune/replication/protocol/fail_stop/fail_stop_primary.h"
#include "neptune/replication/protocol/fail_stop/fail_stop_roster.h"
#include "neptune/replication/protocol/member_log.h"
#include "neptune/replication/protocol/replica_outbox.h"
#include "neptune/replication/protocol/replication_protocol.h"

namespace neptune {

class FailStopReplica final : public ReplicationProtocol {
 public:
  // `found` is the outline of the member's log, where everything that CHECK reports as completed is
  // committed; `incarnation` differs from every earlier one of this member and is not 0.
  FailStopReplica(ReplicaGroup group, const FailStopReplicaOptions& options,
                  const LogOutline& found, uint64_t incarnation, TimePoint now);

  // See FailStopRoster::SetAlive.
  void SetAlive(MemberSet members) { roster_.SetAlive(members); }

  // Unreachable members are ignored: only missing announcements count as silence.
  void Handle(ProtocolEvent event, TimePoint now) override;
  TimePoint NextEvent() const override;
  StatusOr<Lsn> Propose(LogEntry write, TimePoint now) override;
  // Takes effect at the next event of time, unless a primary is alive. Call it on the member with
  // the newest version: members that know more to be committed do not follow it.
  Status StartByHand(TimePoint) override {
    is_forced_ = true;
    return OkStatus();
  }
  ProtocolActions DrainActions() override { return outbox_.Drain(log_); }
  ReplicaStatus status() const override;
  std::optional<SnapshotMark> MarkOf(Lsn last_write, Lsn) const override {
    return log_.MarkOf(last_write);
  }
  // A primary keeps the entries that members lack unless the log is too large.
  Lsn LastDroppable(Lsn wanted, LogPressure pressure, TimePoint now) override;

 private:
  void Receive(MemberIndex from, ReplicaMessage& message, TimePoint now);
  void PassTime(TimePoint now);
  void HandleHello(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleAppend(MemberIndex from, ReplicaMessage& message, TimePoint now);
  void HandleAppendAnswer(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleBehind(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleAskVote(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleVote(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleTakeOver(const ReplicaMessage& message, TimePoint now);
  bool Follow(MemberIndex from, const ReplicaMessage& message);
  void Announce(TimePoint now);

  // Starting and electing.
  void Promise(Epoch epoch, std::optional<MemberIndex> voted_for);
  void LookForPrimary(TimePoint now);
  void AskForVotes(bool hand_over, TimePoint now);
  void CountVotes(TimePoint now);
  void BecomePrimary(TimePoint now);
  void StepDown();
  void Serve(TimePoint now);

  const ReplicaGroup group_;
  const FailStopReplicaOptions options_;
  MemberLog log_;
  ReplicaOutbox outbox_;
  FailStopRoster roster_;
  FailStopPrimary work_;  // done as the primary, and while handing over

  HardState promise_;
  ReplicaRole role_ = ReplicaRole::kRecovering;
  std::optional<MemberIndex> primary_;
  bool is_forced_ = false;
  // True if this member has not been away since it was last in the write set.
  bool is_operational_ = false;

  TimePoint announce_at_{};
  TimePoint look_at_ = kNever;  // when to look for a primary again
  TimePoint election_at_ = kNever;
  bool is_bullying_ = false;  // a candidate to which the primary handed over everything
  MemberSet votes_;
  // The member to which this primary, which takes no more writes, hands over.
  std::optional<MemberIndex> successor_;
};

}  // namespace neptune
