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
// Leases: a primary that a majority has answered is the only one for lease_duration from the time
//   it asked; members do not vote during that time, except for a successor that the primary chose,
//   after which the primary no longer relies on its lease.
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
#include <vector>

#include "neptune/replication/protocol/member_log.h"
#include "neptune/replication/protocol/replica_protocol.h"

namespace neptune {

struct SafeReplicaOptions {
  // Interval between a primary's heartbeats. Smaller: its loss is detected sooner, more messages.
  // Default: 50 ms.
  Duration heartbeat_interval = std::chrono::milliseconds(50);
  // Silence after which the preferred member starts an election, and the additional time for each
  // less preferred one. Larger: longer pauses are tolerated, writes wait longer for a new primary.
  // Default: 350 ms and 60 ms, so that with five members writes stop for less than a second.
  Duration election_timeout = std::chrono::milliseconds(350);
  Duration election_step = std::chrono::milliseconds(60);
  // Maximum random delay added to each timeout, uniformly distributed, so that candidates do not
  // collide forever. Default: 30 ms.
  Duration election_spread = std::chrono::milliseconds(30);
  // Duration of a lease. REQUIRES: below election_timeout by the maximum difference in clock rates.
  // Default: 300 ms.
  Duration lease_duration = std::chrono::milliseconds(300);
  // Total time that a member may delay writes which all others have stored, beyond the time that
  // each write may take; recovers by a tenth of the time that passes. Smaller: a slow member is
  // removed sooner, but so is one with a single hiccup. Default: 150 ms.
  Duration hold_up_max = std::chrono::milliseconds(150);
  // Time that a member may take to store something, unless five times the time of the quickest
  // majority is longer; a slower member does not return to the write set. Default: 10 ms.
  Duration answer_time_max = std::chrono::milliseconds(10);
  // Minimum time before a removed member returns, doubled each time up to the maximum; reset after
  // a minute in the write set. Default: 1 s and 60 s.
  Duration return_delay = std::chrono::seconds(1);
  Duration return_delay_max = std::chrono::seconds(60);
  // Time that a preferred member is in the write set before it becomes the primary, and the maximum
  // time that writes wait for the hand-over. Default: 2 s and 50 ms.
  Duration hand_over_delay = std::chrono::seconds(2);
  Duration hand_over_max = std::chrono::milliseconds(50);
  // StartByHand requires this long without a primary, and is given up if no majority joins within
  // the second time. Default: 3 s and 60 s.
  Duration by_hand_silence = std::chrono::seconds(3);
  Duration by_hand_wait_max = std::chrono::seconds(60);
  // Maximum number of uncommitted writes; further ones are refused. Default: 4,096.
  size_t uncommitted_count_max = 4096;
};

class SafeReplica final : public ReplicaProtocol {
 public:
  // `found` is the outline of the member's log; `incarnation` differs from every earlier one of
  // this member; `seed` randomizes election timeouts.
  SafeReplica(ReplicaGroup group, const SafeReplicaOptions& options, const LogOutline& found,
              uint64_t incarnation, uint64_t seed, TimePoint now);

  void Step(MemberIndex from, ReplicaMessage message, TimePoint now) override;
  void Tick(TimePoint now) override;
  TimePoint NextEvent() const override;
  StatusOr<Lsn> Propose(LogEntry write, TimePoint now) override;
  void Unreachable(MemberIndex member, TimePoint now) override;
  // Errors, all kFailedPrecondition: a witness; a member that lost its promises; a primary is
  // alive, or was recently.
  Status StartByHand(TimePoint now) override;
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
  TimePoint leased_until() const override;
  std::optional<Epoch> EpochAt(Lsn lsn) const override { return log_.EpochAt(lsn); }
  MemberSet WriteSetAt(Lsn lsn) const override { return log_.WriteSetAt(lsn); }
  std::optional<ReplicaFreshness> freshness() const override { return log_.freshness(); }
  Lsn needed_from() const override;

 private:
  // Another member, as known to this one.
  struct Peer {
    uint64_t incarnation = 0;  // 0: not heard yet
    // The fields below are used by a primary during its epoch. The logs are known to match up to
    // `matched`; `next` is sent next.
    Lsn matched = 0;
    Lsn next = 1;
    bool is_probing = true;  // searching for the last matching entry
    TimePoint resend_at{};   // entries or a probe are in flight until then
    // The end of the log when entries were last sent to the member.
    Lsn last_when_sent = 0;
    bool keeps_up = false;
    bool counts = false;
    TimePoint heard_at{};
    // Send time of the newest append that it answered, and smoothed answer time.
    TimePoint answered_for = TimePoint::min();
    Duration answer_time{0};
    int64_t member_stamp = 0;
    // State of its membership in the write set.
    Lsn awaited = 0;  // since awaited_since only this member lacks this entry; 0: none
    TimePoint awaited_since{};
    Duration held_up{0};
    TimePoint in_set_since{};
    TimePoint may_return{};
    Duration return_delay{0};
  };

  // Messages.
  void HandleHello(MemberIndex from);
  void HandleHelloAnswer(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleAppend(MemberIndex from, ReplicaMessage& message, TimePoint now);
  void HandleBehind(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleAppendAnswer(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleAskVote(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleVote(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void HandleTakeOver(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  // True if the sender is the primary of this member's epoch, or of a larger one, which it adopts.
  bool Follow(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  ReplicaMessage AnswerTo(MemberIndex from, const ReplicaMessage& append, TimePoint now) const;
  ReplicaMessage Make(ReplicaMessageKind kind, MemberIndex to) const;
  void SendAtOnce(MemberIndex to, ReplicaMessage message, Lsn entries_to = 0);
  void SendAfterStored(MemberIndex to, ReplicaMessage message);

  // Starting and recovering.
  bool participates() const { return promise_.is_founded; }
  bool is_untouched() const { return log_.last_lsn() == 0 && promise_.epoch == 0; }
  void SayHello(TimePoint now);
  void Found(TimePoint now);
  void LookWhetherRecovered(const ReplicaMessage& append, TimePoint now);

  // Elections.
  void AwaitElection(TimePoint now, Duration silence);
  bool MayVote(const ReplicaMessage& ask, TimePoint now) const;
  bool HasNothingNewerThan(const ReplicaMessage& ask) const;
  void AskForVotes(bool trial, bool hand_over, TimePoint now);
  void CountVotes(TimePoint now);
  void BecomeSecondary(TimePoint now);
  void BecomePrimary(TimePoint now);
  void BeginByHand(TimePoint now);
  void Promise(Epoch epoch, std::optional<MemberIndex> voted_for);
  Duration RandomUpTo(Duration most);

  // Primary.
  void Lead(TimePoint now);
  void Heartbeat(TimePoint now);
  void SendAppend(MemberIndex to, TimePoint now);
  void SendBehind(MemberIndex to, TimePoint now);
  void SendEntries(TimePoint now);
  bool IsFed(MemberIndex member) const;
  void AppendWriteSet(MemberSet members, TimePoint now);
  void Commit(TimePoint now);
  Lsn StoredBy(MemberIndex member) const;
  Lsn StoredByAll(MemberSet members) const;
  MemberSet WithoutNeedlessWitness(MemberSet members) const;
  bool IsHeard(MemberIndex member, TimePoint now) const;
  void CountHoldUps(TimePoint now);
  Duration Patience() const;
  void AwaitMember(MemberIndex member, Lsn others, TimePoint now);
  void ExpelSlow(TimePoint now);
  bool Expel(MemberIndex member, TimePoint now);
  void Admit(TimePoint now);
  bool MayReturn(MemberIndex member, TimePoint now) const;
  std::optional<MemberIndex> ChooseSuccessor(TimePoint now) const;
  void MaintainHandOver(TimePoint now);
  // Send time of the newest append that a majority has answered; kNever: this member is a majority.
  TimePoint MajorityAnsweredFor() const;

  const ReplicaGroup group_;
  const SafeReplicaOptions options_;
  const uint64_t incarnation_;
  uint64_t random_state_;

  HardState promise_;
  MemberLog log_;
  ReplicaRole role_ = ReplicaRole::kSecondary;
  std::optional<MemberIndex> primary_;
  std::vector<Peer> peers_;

  // Last message of a primary; set at the start too, because the member may have heard one just
  // before it restarted.
  TimePoint heard_primary_at_{};
  bool has_heard_primary_ = false;  // in this incarnation
  TimePoint election_at_ = kNever;
  bool is_trial_ = true;
  MemberSet votes_;

  TimePoint hello_at_ = kNever;
  MemberSet blank_;            // members that are as blank as this one
  MemberSet answered_;         // members that take part and have sent their epoch
  Epoch recover_epoch_ = 0;    // the largest of these epochs
  Epoch recovering_from_ = 0;  // epoch of the primary that set recover_to_
  std::optional<Lsn> recover_to_;

  // Started by hand: the promise to be stored first, and the number of its change once assigned.
  Epoch by_hand_epoch_ = 0;
  std::optional<uint64_t> by_hand_change_;
  bool is_by_hand_ = false;  // primary was started by hand and has committed nothing of its epoch

  TimePoint heartbeat_at_ = kNever;
  TimePoint hold_ups_counted_at_{};
  TimePoint primary_since_{};
  Lsn first_of_epoch_ = 0;
  std::optional<MemberIndex> successor_;
  TimePoint hand_over_ends_at_ = kNever;
  bool take_over_sent_ = false;
  TimePoint next_hand_over_{};

  ReplicaActions actions_;
};

}  // namespace neptune
