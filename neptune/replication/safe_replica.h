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
// Leases: a primary that a majority has answered is the only one for lease_duration from when it asked; members do not
//   vote for so long, except for a successor that the primary chose, after which it trusts its lease no more.
//
// Source: design 4.9; dissertation 5.2.2 for priorities and for waiting for all.
// Departs from source: the paper's nodes fail by stopping, and its primary waits until a timeout for whoever is silent.
// Layer: replication, policy. No I/O, no clock, no threads.
// Threads: thread-compatible.
// Units: times are TimePoint of the member's own monotonic clock; no two clocks are compared.
// Limits: kMemberCountMax members.

#pragma once

#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "neptune/replication/log_position.h"
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
  // What a member may hold up writes that all others have stored, in time; a tenth of passing time is forgiven. Smaller: a
  // slow one is out sooner, one that hesitates once is out too. Default: 150 ms.
  Duration hold_up_max = std::chrono::milliseconds(150);
  // A member comes back when it answers within this, or within three times what the slowest of the write set takes.
  // Default: 10 ms.
  Duration answer_time_max = std::chrono::milliseconds(10);
  // How long a member that left waits at least, doubled each time up to the larger one; a minute in the write set and it is
  // forgotten. Default: 1 s and 60 s.
  Duration return_delay = std::chrono::seconds(1);
  Duration return_delay_max = std::chrono::seconds(60);
  // How long a preferred member is in the write set before it becomes the primary, and how long writes may stand still for
  // it. Default: 2 s and 50 ms.
  Duration hand_over_delay = std::chrono::seconds(2);
  Duration hand_over_max = std::chrono::milliseconds(50);
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
  ReplicaActions TakeActions() override;
  void Stored(uint64_t change_number, TimePoint now) override;
  void Restored(const EpochStart& base, MemberSet write_set, TimePoint now) override;
  void Dropped(Lsn first) override { log_.DropBefore(first); }

  ReplicaRole role() const override { return role_; }
  Epoch epoch() const override { return promise_.epoch; }
  std::optional<MemberIndex> primary() const override { return primary_; }
  Lsn committed() const override { return committed_; }
  Lsn last_lsn() const override { return log_.last_lsn(); }
  MemberSet write_set() const override { return log_.write_set(); }
  bool IsLeased(TimePoint now) const override;
  std::optional<ReplicaFreshness> freshness() const override { return freshness_; }
  Lsn needed_from() const override;

 private:
  // What a primary knows of another member, and any member of those that speak to it.
  struct Peer {
    uint64_t incarnation = 0;  // 0: not heard yet
    // Primary only: the log's part that is known to be the same; where to look next.
    Lsn matched = 0;
    Lsn next = 1;
    bool is_probing = true;       // looks for where the logs meet
    TimePoint in_flight_until{};  // entries are under way; they are not sent again before this
    bool counts = false;
    bool was_heard = false;  // in this epoch
    TimePoint heard_at{};
    // The newest append that it answered, and when that was sent.
    TimePoint answered_for{};
    Duration answer_time{0};  // smoothed
    int64_t member_stamp = 0;
    // The write set.
    Duration held_up{0};
    TimePoint in_set_since{};
    TimePoint may_return{};
    Duration return_delay{0};
  };
  struct PendingChange {
    uint64_t number = 0;
    Lsn last_lsn = 0;
  };

  // Messages.
  void TakeHello(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void TakeHelloAnswer(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void TakeAppend(MemberIndex from, ReplicaMessage& message, TimePoint now);
  void TakeAppendAnswer(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void TakeAskVote(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void TakeVote(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void TakeTakeOver(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  void TakeBehind(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  // Whether the sender is the primary of an epoch that counts here; takes over its epoch.
  bool FollowPrimary(MemberIndex from, const ReplicaMessage& message, TimePoint now);
  ReplicaMessage Make(ReplicaMessageKind kind, MemberIndex to) const;
  void Send(MemberIndex to, ReplicaMessage message, bool at_once, Lsn entries_to = 0);

  // Starting and recovering.
  void SayHello(TimePoint now);
  void Found(TimePoint now);
  void LookWhetherRecovered(const ReplicaMessage& append, TimePoint now);
  bool participates() const { return promise_.is_founded; }

  // Elections.
  void ResetElection(TimePoint now);
  bool MayVote(const ReplicaMessage& ask, TimePoint now) const;
  void AskForVotes(bool trial, bool hand_over, TimePoint now);
  void BecomeSecondary(Epoch epoch, TimePoint now);
  void BecomePrimary(TimePoint now);
  void Promise(Epoch epoch, std::optional<MemberIndex> voted_for);
  Duration NextRandom(Duration max);

  // As the primary.
  void Lead(TimePoint now);
  void SendAppend(MemberIndex to, TimePoint now);
  void SendAppends(TimePoint now);
  bool HasSomethingFor(const Peer& peer) const;
  void AppendWriteSet(MemberSet members, TimePoint now);
  void Commit(TimePoint now);
  Lsn StoredByAll(MemberSet members) const;
  Lsn StoredBy(MemberIndex member) const;
  void CountHoldUps(TimePoint now);
  void Expel(MemberIndex member, TimePoint now);
  void AdmitMembers(TimePoint now);
  bool MayReturn(MemberIndex member, TimePoint now) const;
  void LookForSuccessor(TimePoint now);
  void TendHandOver(TimePoint now);
  // When a majority, this member included, had last answered what was sent then.
  TimePoint MajorityAnsweredFor() const;

  void DropFrom(Lsn lsn);
  void Append(LogEntry entry);
  void SetCommitted(Lsn lsn);

  const ReplicaGroup group_;
  const SafeReplicaOptions options_;
  const uint64_t incarnation_;
  uint64_t random_state_;

  MemberPromise promise_;
  LogPosition log_;
  Lsn committed_ = 0;
  Lsn stored_ = 0;  // the log's part that is durable here
  ReplicaRole role_ = ReplicaRole::kSecondary;
  std::optional<MemberIndex> primary_;
  std::vector<Peer> peers_;

  TimePoint heard_primary_at_{};  // or TimePoint::min(): not in this life
  bool heard_primary_ = false;
  TimePoint election_at_ = kNever;
  bool is_trial_ = true;
  bool hand_over_election_ = false;
  MemberSet votes_;

  TimePoint hello_at_ = kNever;
  MemberSet blank_;          // kBlank: who answered that it is
  MemberSet answered_;       // kRecovering: who told its epoch
  Epoch recover_epoch_ = 0;  // the largest of them
  std::optional<Lsn> recover_to_;

  TimePoint heartbeat_at_ = kNever;
  TimePoint counted_hold_ups_at_{};
  TimePoint primary_since_{};
  std::optional<MemberIndex> successor_;
  TimePoint hand_over_ends_at_ = kNever;
  bool take_over_sent_ = false;
  TimePoint next_hand_over_{};
  Duration hand_over_pause_{0};

  std::optional<ReplicaFreshness> freshness_;

  uint64_t change_number_ = 0;
  std::deque<PendingChange> pending_;
  ReplicaActions actions_;
};

}  // namespace neptune
