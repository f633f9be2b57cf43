// Consistency level 1 as an AgentProtocol: every member accepts writes into its own log.
//
// LastDroppable also appends an entry with the origin counts, so that the next call can drop more.
//
// Source: [Shen02] 5.2.1. No I/O, no clock, no threads. Threads: thread-compatible.
// Limits: the log keeps everything that an absent member lacks, without bound; the caller must
//   bound the writes it proposes.

#pragma once

#include "neptune/replication/protocol/agent_protocol.h"
#include "neptune/replication/protocol/commutative_replica.h"

namespace neptune {

class CommutativeProtocol final : public AgentProtocol {
 public:
  // See CommutativeReplica's constructor.
  CommutativeProtocol(ReplicaGroup group, const LogOutline& found, OriginIndex index,
                      uint64_t incarnation, TimePoint now);

  void Step(MemberIndex from, ProtocolMessage message, TimePoint now) override;
  void Tick(TimePoint now) override { replica_.Tick(now); }
  TimePoint NextEvent() const override { return replica_.NextEvent(); }
  StatusOr<Lsn> Propose(LogEntry write, TimePoint now) override;
  // No-op: absent members are detected by their silence.
  void Unreachable(MemberIndex, TimePoint) override {}
  // Errors: kFailedPrecondition always, because level 1 elects no primary.
  Status StartByHand(TimePoint now) override;
  ProtocolActions DrainActions() override;
  void Stored(uint64_t change_number, TimePoint now) override;
  bool Complete(Lsn log_base, ReplicaSnapshot* snapshot) const override;
  void Restored(ReplicaSnapshot snapshot, TimePoint now) override;
  Lsn LastDroppable(Lsn wanted, bool is_large, TimePoint now) override;
  void Dropped(Lsn first) override { replica_.Dropped(first); }
  // The role is kPeer or kBlank; there is no primary.
  ReplicaStatus status() const override;
  std::optional<ReplicaFreshness> freshness() const override { return std::nullopt; }

 private:
  CommutativeReplica replica_;
  Lsn noted_lsn_ = 0;  // last LSN right after counts were appended
};

}  // namespace neptune
