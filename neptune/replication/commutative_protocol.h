// Level 1 as a ReplicaAgent runs it: every member takes writes, over a log of its own.
//
// Counts of origins are noted in the log whenever it is looked at for what can go, so that the next look finds more.
//
// Source: [Shen02] 5.2.1. No I/O, no clock, no threads. Threads: thread-compatible.
// Limits: a log keeps what a member that is away lacks, however large that is: who runs this has to bound what it proposes.

#pragma once

#include "neptune/replication/agent_protocol.h"
#include "neptune/replication/commutative_replica.h"

namespace neptune {

class CommutativeProtocol final : public AgentProtocol {
 public:
  // As CommutativeReplica's.
  CommutativeProtocol(ReplicaGroup group, const LogOutline& found, OriginIndex index,
                      uint64_t incarnation, TimePoint now);

  void Step(MemberIndex from, ProtocolMessage message, TimePoint now) override;
  void Tick(TimePoint now) override { replica_.Tick(now); }
  TimePoint NextEvent() const override { return replica_.NextEvent(); }
  StatusOr<Lsn> Propose(LogEntry write, TimePoint now) override;
  // Members that are away are known by their silence.
  void Unreachable(MemberIndex, TimePoint) override {}
  // Nothing is elected here. Errors: kFailedPrecondition always.
  Status StartByHand(TimePoint now) override;
  ProtocolActions DrainActions() override;
  void Stored(uint64_t change_number, TimePoint now) override;
  bool Complete(Lsn log_base, ReplicaSnapshot* snapshot) const override;
  void Restored(ReplicaSnapshot snapshot, TimePoint now) override;
  Lsn LastDroppable(Lsn wanted, bool is_large, TimePoint now) override;
  void Dropped(Lsn first) override { replica_.Dropped(first); }
  // kPeer or kBlank; nobody is primary.
  ReplicaStatus status() const override;
  std::optional<ReplicaFreshness> freshness() const override { return std::nullopt; }

 private:
  CommutativeReplica replica_;
  Lsn noted_lsn_ = 0;  // the last entry, when it was the counts
};

}  // namespace neptune
