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
//   2. announces itself. The primary lets a less preferred member catch up while writes go on. For
//   a
//      more preferred one it stops taking writes at once, sends everything it has, and is then
//      bullied into a secondary;
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
#include <vector>

#include "neptune/replication/protocol/member_log.h"
#include "neptune/replication/protocol/replica_protocol.h"

namespace neptune {

struct FailStopReplicaOptions {
  // Interval between announcements. Smaller: failures are detected sooner, more messages.
  // Default: 50 ms.
  Duration announcement_interval = std::chrono::milliseconds(50);
  // Silence after which a node counts as stopped. Default: 350 ms.
  Duration failure_timeout = std::chrono::milliseconds(350);
  // Time that a write waits for a live member that does not acknowledge. Default: 1 s.
  Duration acknowledge_timeout = std::chrono::seconds(1);
  // Delay before a failed election is retried. Default: 60 ms.
  Duration election_retry = std::chrono::milliseconds(60);
  // Maximum number of uncommitted writes; further ones are refused. Default: 4,096.
  size_t uncommitted_count_max = 4096;
};

class FailStopReplica final : public ReplicaProtocol {
 public:
  // `found` is the outline of the member's log, where everything that CHECK reports as completed is
  // committed; `incarnation` differs from every earlier one of this member and is not 0.
  FailStopReplica(ReplicaGroup group, const FailStopReplicaOptions& options,
                  const LogOutline& found, uint64_t incarnation, TimePoint now);

  // The members that may be alive according to another source; the others count as stopped at once.
  // Default: all.
  void SetAlive(MemberSet members) { may_live_ = members; }

  void Step(MemberIndex from, ReplicaMessage message, TimePoint now) override;
  void Tick(TimePoint now) override;
  TimePoint NextEvent() const override;
  StatusOr<Lsn> Propose(LogEntry write, TimePoint now) override;
  // No-op: only missing announcements count as silence.
  void Unreachable(MemberIndex, TimePoint) override {}
  // Takes effect at the next Tick, unless a primary is alive. Call it on the member with the newest
  // version: members that know more to be committed do not follow it.
  Status StartByHand(TimePoint) override {
    is_forced_ = true;
    return OkStatus();
  }
  ReplicaActions DrainActions() override;
  void Stored(uint64_t change_number, TimePoint now) override;
  void Restored(const EpochStart& base, MemberSet write_set, TimePoint now) override;
  void Dropped(Lsn first) override { log_.DropBefore(first); }

  ReplicaRole role() const override { return role_; }
  Epoch epoch() const override { return promise_.epoch; }
  std::optional<MemberIndex> primary() const override { return primary_; }
  Lsn committed() const override { return log_.executable(); }
  Lsn last_lsn() const override { return log_.last_lsn(); }
  MemberSet write_set() const override { return log_.write_set(); }
  // Relies on the assumption that a node that counts as stopped has stopped. A primary has a lease
  // once an entry of its epoch is executable, and with it everything that was committed before.
  TimePoint leased_until() const override {
    return role_ == ReplicaRole::kPrimary && log_.executable() >= epoch_begin_ ? kNever
                                                                               : TimePoint::min();
  }
  std::optional<Epoch> EpochAt(Lsn lsn) const override { return log_.EpochAt(lsn); }
  MemberSet WriteSetAt(Lsn lsn) const override { return log_.WriteSetAt(lsn); }
  std::optional<ReplicaFreshness> freshness() const override { return log_.freshness(); }
  Lsn needed_from() const override;

 private:
  struct Peer {
    uint64_t incarnation = 0;  // 0: not heard yet
    TimePoint heard_at{};
    Epoch epoch = 0;
    bool is_operational = false;  // as announced by the member
    bool was_blank = false;
    // Used when sending entries: the logs are known to match up to `matched`; `next` is sent next.
    Lsn matched = 0;
    Lsn next = 1;
    TimePoint resend_at{};  // an append is in flight; no other is sent before this
    Lsn told_committed = 0;
    bool is_owed = false;  // an append, possibly empty, must be sent
    // The entry that added the member to the write set in its current incarnation; 0: none.
    Lsn admitted = 0;
    TimePoint progress_at{};  // when it last had everything, or more than before
    int64_t member_stamp = 0;
  };

  // Messages.
  void Meet(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleHello(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleAppend(MemberIndex from, ReplicaMessage& message, TimePoint now);
  void HandleAppendAnswer(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleBehind(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleAskVote(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleVote(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleTakeOver(const ReplicaMessage& message, TimePoint now);
  bool Follow(MemberIndex from, const ReplicaMessage& message);
  ReplicaMessage Make(ReplicaMessageKind kind, MemberIndex to) const;
  void Announce(TimePoint now);

  // Starting and electing.
  bool lives(MemberIndex member, TimePoint now) const;
  bool AllAreBlank() const;
  bool IsPreferred(TimePoint now) const;
  Epoch NextEpoch() const;
  void Promise(Epoch epoch, std::optional<MemberIndex> voted_for);
  void LookForPrimary(TimePoint now);
  void AskForVotes(bool hand_over, TimePoint now);
  void CountVotes(TimePoint now);
  void BecomePrimary(TimePoint now);
  void StepDown();

  // Primary, also while handing over.
  void Serve(TimePoint now);
  void SendAppend(MemberIndex to, TimePoint now);
  void MaintainWriteSet(TimePoint now);
  void AppendWriteSet(MemberSet members);
  void Commit();
  void HandOver(MemberIndex to, TimePoint now);

  bool is_untouched() const { return log_.last_lsn() == 0 && promise_ == HardState(); }

  const ReplicaGroup group_;
  const FailStopReplicaOptions options_;
  const uint64_t incarnation_;

  HardState promise_;
  MemberLog log_;
  ReplicaRole role_ = ReplicaRole::kRecovering;
  std::optional<MemberIndex> primary_;
  std::vector<Peer> peers_;
  MemberSet may_live_ = MemberSet(0xffff);
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
  Lsn epoch_begin_ = 0;  // the first entry of this primary's epoch

  ReplicaActions actions_;
};

}  // namespace neptune
