// Consistency level `write_anywhere` as a ReplicationProtocol: every member accepts writes into its
// own log.
//
// LastDroppable also appends an entry with the origin counts, so that the next call can drop more.
//
// Source: [Shen02] 5.2.1.
// No I/O, no clock, no threads.
// Threads: thread-compatible.
// Limits: the log keeps everything that an absent member lacks, without bound; the caller must
//   bound the writes it proposes.

#pragma once

#include <optional>

#include "neptune/replication/protocol/commutative_replica.h"
#include "neptune/replication/protocol/replication_protocol.h"

namespace neptune {

class CommutativeProtocol final : public ReplicationProtocol {
 public:
  // See CommutativeReplica's constructor.
  CommutativeProtocol(ReplicaGroup group, const LogOutline& found, OriginIndex index,
                      uint64_t incarnation, TimePoint now);

  // Unreachable members are ignored: absent ones are detected by their silence.
  void Handle(ProtocolEvent event, TimePoint now) override;
  TimePoint NextEvent() const override { return replica_.NextEvent(); }
  StatusOr<Lsn> Propose(LogEntry write, TimePoint now) override;
  // Errors: kFailedPrecondition always, because `write_anywhere` elects no primary.
  Status StartByHand(TimePoint now) override;
  ProtocolActions DrainActions() override;
  // The role is kPeer or kBlank; there is no primary and no freshness.
  ReplicaStatus status() const override;
  std::optional<SnapshotMark> MarkOf(Lsn last_write, Lsn log_base) const override;
  Lsn LastDroppable(Lsn wanted, LogPressure pressure, TimePoint now) override;

 private:
  CommutativeReplica replica_;
  Lsn noted_lsn_ = 0;  // last LSN right after counts were appended
};

}  // namespace neptune
