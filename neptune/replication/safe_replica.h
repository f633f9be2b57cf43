// The safe mode of replication: a primary that cannot be two, on nodes that stop, hang, are cut off and forget.
//
// An epoch is a primacy. Every member promises to take nothing of smaller epochs, and a primary is elected by a majority
// of the configured members, the witness included, each of which has no newer log than it. A write is committed when all
// of the write set have stored it; the write set is at least a majority. So whoever is elected has every committed write,
// and a primary that is cut off commits nothing. Only committed writes are executed: nothing is ever undone.
//
//   kBlank ──all members are blank──► kSecondary ──silence──► kCandidate ──majority──► kPrimary
//     │                                 ▲   ▲                     │                       │
//     └──somebody is not──► kRecovering─┘   └──── a larger epoch, or no majority hears it ┘
//
// Elections: the member that is preferred waits shortest; a trial comes first, so that nobody who is cut off raises the
//   epoch; nobody votes who has heard a primary lately. A preferred member that is back, and has caught up, is given the
//   primacy: the primary takes no writes for at most hand_over_max, and its successor is elected at once.
// Write set: a member that holds up what all others have stored loses its patience (hold_up_max) and leaves by an entry
//   of the log; it comes back when it has caught up, answers as quickly as others, and has waited, each time twice as
//   long. The set never gets smaller than a majority.
// Forgetful members: one whose store is empty might have promised and stored things. It takes part only once all members
//   are as blank as it is - a new partition -, or once it heard a majority of the others and has caught up with a primary
//   of no smaller epoch than any of them had promised. A message carries for which life of its receiver it is meant.
// By hand: where so many disks are lost that nobody can be elected, an operator starts the partition from one member's log.
//   That is the primary of an epoch far above all that anybody may have promised, once it has stored its promise. Members
//   that have forgotten, or never knew, take its word for all others'. It commits nothing without a majority either, and
//   nobody follows it who knows more to be committed than it has.
// Leases: a primary that a majority has answered is the only one for lease_duration from when it asked; members do not
//   vote for so long, except for a successor that the primary chose, after which it trusts its lease no more.
//
// Source: [Shen02] 5.2.2 for priorities and for waiting for all.
// Departs from source: the paper's nodes fail by stopping, and its primary waits until a timeout for whoever is silent.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Units: times are TimePoint of the member's own monotonic clock; no two clocks are compared.
// Limits: kMemberCountMax members.

#pragma once

#include <optional>
#include <vector>

#include "neptune/replication/member_log.h"
#include "neptune/replication/replica_protocol.h"

namespace neptune {

struct SafeReplicaOptions {
  // Between signs of life of a primary. Smaller: its loss is seen sooner, more messages. Default: 50 ms.
  Duration heartbeat_interval = std::chrono::milliseconds(50);
  // Silence after which the preferred member asks to be elected, and how much later each further one does. Larger: pauses
  // are ridden out, writes wait longer for a new primary. Default: 350 ms and 60 ms, so that with five members writes stand
  // still for less than a second.
  Duration election_timeout = std::chrono::milliseconds(350);
  Duration election_step = std::chrono::milliseconds(60);
  // Added to each wait, evenly from 0 to this, so that two who are alike do not meet for ever. Default: 30 ms.
  Duration election_spread = std::chrono::milliseconds(30);
  // How long a primary trusts what a majority answered. REQUIRES: below election_timeout by what clocks may differ in
  // speed. Default: 300 ms.
  Duration lease_duration = std::chrono::milliseconds(300);
  // For how long a member may hold up writes that all others have stored, beyond the time that each may take; a tenth of
  // passing time is forgiven. Smaller: a slow one is out sooner, one that hesitates once is out too. Default: 150 ms.
  Duration hold_up_max = std::chrono::milliseconds(150);
  // A member may take this long to store something, or five times as long as the quickest majority does; one that takes
  // longer does not come back. Default: 10 ms.
  Duration answer_time_max = std::chrono::milliseconds(10);
  // How long a member that left waits at least, doubled each time up to the larger one; a minute in the write set and it is
  // forgotten. Default: 1 s and 60 s.
  Duration return_delay = std::chrono::seconds(1);
  Duration return_delay_max = std::chrono::seconds(60);
  // How long a preferred member is in the write set before it becomes the primary, and how long writes may stand still for
  // it. Default: 2 s and 50 ms.
  Duration hand_over_delay = std::chrono::seconds(2);
  Duration hand_over_max = std::chrono::milliseconds(50);
  // A member is started by hand only when it has heard no primary for so long, and gives up if no majority joins it within
  // the second time. Default: 3 s and 60 s.
  Duration by_hand_silence = std::chrono::seconds(3);
  Duration by_hand_wait_max = std::chrono::seconds(60);
  // Writes that are ordered and not committed. More are refused. Default: 4,096.
  size_t uncommitted_count_max = 4096;
};

class SafeReplica final : public ReplicaProtocol {
 public:
  // `found` is what the member's log holds; `incarnation` differs from every earlier one of this member; `seed` spreads
  // elections.
  SafeReplica(ReplicaGroup group, const SafeReplicaOptions& options, const LogOutline& found,
              uint64_t incarnation, uint64_t seed, TimePoint now);

  void Step(MemberIndex from, ReplicaMessage message, TimePoint now) override;
  void Tick(TimePoint now) override;
  TimePoint NextEvent() const override;
  StatusOr<Lsn> Propose(LogEntry write, TimePoint now) override;
  void Unreachable(MemberIndex member, TimePoint now) override;
  // Errors, all kFailedPrecondition: a witness; a member that has forgotten what it promised; a primary lives, or did lately.
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
  // What this member knows of another one.
  struct Peer {
    uint64_t incarnation = 0;  // 0: not heard yet
    // The rest is a primary's, of its epoch. The part of the log that is known to be the same; where to go on.
    Lsn matched = 0;
    Lsn next = 1;
    bool is_probing = true;  // looks for where the logs meet
    TimePoint resend_at{};   // entries or a question are under way until then
    // The end of the log when entries were sent to it last; it has all that it was sent then.
    Lsn last_when_sent = 0;
    bool keeps_up = false;
    bool counts = false;
    TimePoint heard_at{};
    // When the newest append was sent that it answered, and how long answers take, smoothed.
    TimePoint answered_for = TimePoint::min();
    Duration answer_time{0};
    int64_t member_stamp = 0;
    // Its place in the write set.
    Lsn awaited = 0;  // all others have it, and this one has not since awaited_since; 0: nothing
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
  // Whether the sender is the primary of an epoch that holds here, or holds from now on.
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

  // As the primary.
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
  // When the newest append was sent that a majority has answered; kNever: this member alone is one.
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

  // Of a primary; this member's start counts as one, for it may have heard one just before.
  TimePoint heard_primary_at_{};
  bool has_heard_primary_ = false;  // in this life
  TimePoint election_at_ = kNever;
  bool is_trial_ = true;
  MemberSet votes_;

  TimePoint hello_at_ = kNever;
  MemberSet blank_;            // who is as blank as this member
  MemberSet answered_;         // who told its epoch, of those that take part
  Epoch recover_epoch_ = 0;    // the largest of them
  Epoch recovering_from_ = 0;  // of the primary that recover_to_ is of
  std::optional<Lsn> recover_to_;

  // Started by hand: the promise that is to be stored first, and its change once that has a number.
  Epoch by_hand_epoch_ = 0;
  std::optional<uint64_t> by_hand_change_;
  bool is_by_hand_ = false;  // the primary is, and has committed nothing of its epoch

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
