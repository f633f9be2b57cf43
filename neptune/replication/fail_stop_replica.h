// The paper's own mode of replication, for nodes that fail by stopping and a network that always delivers.
//
//   kRecovering ──the primary has let it catch up──► kSecondary ──the primary stopped, none preferred lives──► kCandidate
//      │                                                ▲                                                        │
//      │                                                └───────── deposed ──────── kPrimary ◄───all alive agree──┘
//      └──preferred to the primary: that stops taking writes, hands over all it has──────►┘
//
// Everybody announces itself; who is silent for failure_timeout has stopped. The preferred member that lives and has not
// been away is elected by all that live (the Bully Algorithm with a priority for each partition). A write is committed when
// every member of the write set has stored it; one that does not acknowledge for acknowledge_timeout counts as stopped, and
// must recover. A member that starts:
//   1. compares its log with its data: CHECK tells what is executed, and its committed part is that at least;
//   2. announces itself. A primary lets one that is less preferred catch up while writes go on; for one that is more
//      preferred it stops taking writes at once, gives it all it has, and is then bullied into a secondary;
//   3. takes part again, with the entry of the log that puts it into the write set.
// When all have stopped, nobody begins by itself: StartByHand is called on the member with the newest version.
//
// Safe only while its assumptions hold: a primary that is cut off or pauses is taken for stopped, and its writes may be lost.
// SafeReplica is for everything else.
//
// Source: [Shen02] 5.1.1, 5.2.2.
// Departs from source: a write that was not completed before a failure is not reissued from the own log but taken, or
//   dropped, as the primary's log has it; after StartByHand the whole log counts. A new partition starts by itself when all
//   members are there. A partition of one member, which is all there are, starts by itself.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Units: times are TimePoint of the member's own monotonic clock; no two clocks are compared.

#pragma once

#include <optional>
#include <vector>

#include "neptune/replication/member_log.h"
#include "neptune/replication/replica_protocol.h"

namespace neptune {

struct FailStopReplicaOptions {
  // Between announcements. Smaller: a failure is seen sooner, more messages. Default: 50 ms.
  Duration announcement_interval = std::chrono::milliseconds(50);
  // Silence that means that a node has stopped. Default: 350 ms.
  Duration failure_timeout = std::chrono::milliseconds(350);
  // How long a write waits for a member that lives and does not acknowledge. Default: 1 s.
  Duration acknowledge_timeout = std::chrono::seconds(1);
  // Between elections that came to nothing. Default: 60 ms.
  Duration election_retry = std::chrono::milliseconds(60);
  // Writes that are ordered and not committed. More are refused. Default: 4,096.
  size_t uncommitted_count_max = 4096;
};

class FailStopReplica final : public ReplicaProtocol {
 public:
  // `found` is what the member's log holds, with all that CHECK says is completed as committed; `incarnation` differs from
  // every earlier one of this member and is not 0.
  FailStopReplica(ReplicaGroup group, const FailStopReplicaOptions& options,
                  const LogOutline& found, uint64_t incarnation, TimePoint now);

  // Who lives, as far as another source knows; the others are taken for stopped at once. Default: all.
  void SetAlive(MemberSet members) { may_live_ = members; }

  void Step(MemberIndex from, ReplicaMessage message, TimePoint now) override;
  void Tick(TimePoint now) override;
  TimePoint NextEvent() const override;
  StatusOr<Lsn> Propose(LogEntry write, TimePoint now) override;
  // Does not count as silence: the member's own announcements do.
  void Unreachable(MemberIndex, TimePoint) override {}
  // At the next Tick; without effect where a primary lives. To be called on the member with the newest version: who knows
  // more to be committed does not follow it.
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
  // By the assumption that a node that is taken for stopped has stopped. What was committed before it is known then.
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
    bool is_operational = false;  // as it announces itself
    bool was_blank = false;
    // Of whoever sends it entries: where the logs are known to be the same, and where to look next.
    Lsn matched = 0;
    Lsn next = 1;
    TimePoint resend_at{};  // an append is under way; none is sent before this
    Lsn told_committed = 0;
    bool is_owed = false;  // an append, with entries or without
    // The entry that put it into the write set in this life of it; 0: none.
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

  // As the primary, or as the one that hands over.
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
  // It has not been away since it was last in the write set.
  bool is_operational_ = false;

  TimePoint announce_at_{};
  TimePoint look_at_ = kNever;  // for a primary, again
  TimePoint election_at_ = kNever;
  bool is_bullying_ = false;  // a candidate that was handed everything
  MemberSet votes_;
  // Whom this primary, which takes no writes any more, gives what it has.
  std::optional<MemberIndex> successor_;
  Lsn epoch_begin_ = 0;  // the first entry of this primary

  ReplicaActions actions_;
};

}  // namespace neptune
